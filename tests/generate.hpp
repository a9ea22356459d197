#pragma once

#include <muster/detail/values/kinds.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>

/// Values of every described type, drawn from a seed. The same seed gives the same value
/// everywhere.

namespace muster::test {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(std::mt19937_64(seed)) {}
  /// Draws values from any source of random numbers.
  explicit Generator(std::function<std::uint64_t()> random) : random_(std::move(random)) {}

  /// Any value of the type, including small values, extreme values and ill-formed strings.
  template <class T>
  T make();

  /// A number from 0 to `greatest`.
  std::uint64_t below_or_at(std::uint64_t greatest) {
    return greatest == std::numeric_limits<std::uint64_t>::max() ? random_()
                                                                 : random_() % (greatest + 1);
  }

 private:
  template <class Number>
  static void hold_below(Number& number, std::uint64_t greatest) {
    if (number > greatest) number = static_cast<Number>(number % (greatest + 1));
  }
  template <class T>
  T number();
  template <class E>
  E enumerator();
  std::string bytes();
  std::string text();
  template <class T>
  T alternative();

  std::function<std::uint64_t()> random_;
};

/// A value of this type that depends only on the seed.
template <class T>
T generate(std::uint64_t seed) {
  return Generator(seed).make<T>();
}

// Half of the numbers are small, and a quarter are at the limits of the type.
template <class T>
T Generator::number() {
  using Limits = std::numeric_limits<T>;
  switch (below_or_at(3)) {
    case 0:
      return static_cast<T>(random_());
    case 1:
      return below_or_at(1) == 0 ? Limits::max() : Limits::min();
    default:
      return static_cast<T>(below_or_at(9));
  }
}

template <class E>
E Generator::enumerator() {
  using Enumerators = boost::describe::describe_enumerators<E>;
  std::uint64_t skip = below_or_at(boost::mp11::mp_size<Enumerators>::value - 1);
  E chosen{};
  boost::mp11::mp_for_each<Enumerators>([&](auto each) {
    if (skip-- == 0) chosen = each.value;
  });
  return chosen;
}

inline std::string Generator::bytes() {
  std::string made(below_or_at(12), '\0');
  for (char& c : made) c = static_cast<char>(random_());
  return made;
}

inline std::string Generator::text() {
  static constexpr std::string_view pieces[] = {"a",
                                                "Z",
                                                " ",
                                                "\"",
                                                "\\",
                                                "/",
                                                "\n",
                                                "\t",
                                                "\x01",
                                                "\x7f",
                                                "\xc3\xa9",
                                                "\xe2\x82\xac",
                                                "\xef\xbf\xbd",
                                                "\xef\xbf\xbd"
                                                "61",
                                                "\xf0\x9f\x98\x80",
                                                "\xed\xa0\x80",
                                                "\xc0\x80",
                                                "\xff",
                                                "\xf4\x90\x80\x80",
                                                "\xe2\x82",
                                                "}",
                                                "]",
                                                ",",
                                                std::string_view("\0", 1)};
  std::string made;
  for (std::uint64_t left = below_or_at(8); left > 0; --left)
    made += pieces[below_or_at(std::size(pieces) - 1)];
  return made;
}

template <class T>
T Generator::alternative() {
  T made;
  boost::mp11::mp_with_index<std::variant_size_v<T>>(
      static_cast<std::size_t>(below_or_at(std::variant_size_v<T> - 1)), [&](auto index) {
        made.template emplace<index>(this->make<std::variant_alternative_t<index, T>>());
      });
  return made;
}

template <class T>
T Generator::make() {
  T made{};
  if constexpr (std::same_as<T, bool>) {
    made = below_or_at(1) == 1;
  } else if constexpr (std::integral<T>) {
    made = number<T>();
  } else if constexpr (DescribedEnum<T>) {
    made = enumerator<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    made = text();
  } else if constexpr (std::same_as<T, Bytes>) {
    made.data = bytes();
  } else if constexpr (AnyStrong<T>) {
    made.value = number<decltype(made.value)>();
    hold_below(made.value, greatest_of<T>);
  } else if constexpr (std::same_as<T, Duration>) {
    made = Duration(number<std::int64_t>());
  } else if constexpr (std::same_as<T, NodeSet>) {
    for (std::uint64_t left = below_or_at(5); left > 0; --left) made.insert(make<NodeId>());
  } else if constexpr (AnyOptional<T>) {
    if (below_or_at(1) == 1) made = make<typename T::value_type>();
  } else if constexpr (AnyVariant<T>) {
    made = alternative<T>();
  } else if constexpr (AnyVector<T>) {
    for (std::uint64_t left = below_or_at(3); left > 0; --left)
      made.push_back(make<typename T::value_type>());
  } else if constexpr (AnyMap<T>) {
    for (std::uint64_t left = below_or_at(3); left > 0; --left)
      made.insert_or_assign(make<typename T::key_type>(), make<typename T::mapped_type>());
  } else {
    boost::mp11::mp_for_each<FieldsOf<T>>([&]<class Field>(Field) {
      auto& field = made.*Field::pointer;
      field = this->make<std::remove_cvref_t<decltype(field)>>();
      if constexpr (std::same_as<FieldType<T, Field>, std::uint64_t>)
        hold_below(field, greatest_in<Field::pointer>);
    });
  }
  return made;
}

}  // namespace muster::test
