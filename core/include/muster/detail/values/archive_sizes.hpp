#pragma once

#include <muster/detail/values/kinds.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

/// The sizes of values in the archive (muster/values/archive.hpp).

namespace MUSTER_EXPORT muster {
namespace detail {

template <class T>
concept ArchivedNumber = (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8) ||
                         std::same_as<T, float> || std::same_as<T, double>;

template <std::size_t Size>
using UnsignedOf = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t,
                       std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

// The least number of bytes that a value of this type takes. The reader uses this number to check a
// count of elements.
template <class T>
constexpr std::size_t least_bytes() {
  if constexpr (ArchivedNumber<T>) {
    return sizeof(T);
  } else if constexpr (AnyStrong<T>) {
    return sizeof(T::value);
  } else if constexpr (std::same_as<T, Duration>) {
    return sizeof(std::int64_t);
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, Bytes> ||
                       std::same_as<T, NodeSet> || AnyVector<T> || AnyMap<T>) {
    return sizeof(std::uint32_t);
  } else if constexpr (is_made_from<T, std::pair>) {
    return least_bytes<std::remove_const_t<typename T::first_type>>() +
           least_bytes<typename T::second_type>();
  } else if constexpr (Described<T>) {
    std::size_t sum = 0;
    boost::mp11::mp_for_each<FieldsOf<T>>(
        [&]<class Field>(Field) { sum += least_bytes<FieldType<T, Field>>(); });
    return sum;
  } else if constexpr (std::same_as<T, bool> || std::is_enum_v<T> || AnyOptional<T> ||
                       AnyVariant<T>) {
    return 1;
  } else {
    return 0;
  }
}

// The size of a value in bytes.
template <class T>
std::size_t archived_size(const T& value) {
  if constexpr (std::same_as<T, std::string>) {
    return least_bytes<T>() + value.size();
  } else if constexpr (std::same_as<T, Bytes>) {
    return least_bytes<T>() + value.data.size();
  } else if constexpr (AnyOptional<T>) {
    return least_bytes<T>() + (value ? archived_size(*value) : 0);
  } else if constexpr (AnyVariant<T>) {
    return least_bytes<T>() + std::visit([](const auto& one) { return archived_size(one); }, value);
  } else if constexpr (std::same_as<T, NodeSet> || AnyVector<T> || AnyMap<T>) {
    std::size_t sum = least_bytes<T>();
    for (const auto& element : value) sum += archived_size(element);
    return sum;
  } else if constexpr (is_made_from<T, std::pair>) {
    return archived_size(value.first) + archived_size(value.second);
  } else if constexpr (Described<T> && !AnyStrong<T>) {
    std::size_t sum = 0;
    for_each_field(value, [&sum](const char*, const auto& field) { sum += archived_size(field); });
    return sum;
  } else {
    static_assert(least_bytes<T>() > 0, "describe the type with MUSTER_DESCRIBE");
    return least_bytes<T>();
  }
}

template <DescribedEnum E>
constexpr bool enumerators_fit_one_byte() {
  bool fit = true;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto enumerator) {
    const auto value = static_cast<std::int64_t>(enumerator.value);
    fit = fit && value >= 0 && value <= 255;
  });
  return fit;
}

}  // namespace detail
}  // namespace muster
