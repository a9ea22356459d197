#pragma once

#include <muster/detail/values/compiled_once.hpp>
#include <muster/detail/values/kinds.hpp>
#include <muster/values/failure.hpp>

#include <concepts>
#include <ostream>
#include <string>
#include <string_view>

/// Values as one line of text for people: in test failures, diagnostics and error messages.

namespace MUSTER_EXPORT muster {

namespace detail {

inline constexpr char hexadecimal_digits[] = "0123456789abcdef";

void append_number(std::string& out, std::uint64_t number);
void append_number(std::string& out, std::int64_t number);
void append_hexadecimal(std::string& out, std::uint64_t number);  // 16 digits
void append_quoted(std::string& out, std::string_view text);
void append_bytes(std::string& out, std::string_view bytes);
void append_duration(std::string& out, Duration duration);
void append_unnamed(std::string& out, std::string_view type, std::int64_t value);

// "[a, b]": the elements of a range, or the fields of a value, between brackets.
class TextList {
 public:
  TextList(std::string& out, char open, char close) : out_(out), close_(close) { out_ += open; }
  TextList(const TextList&) = delete;
  TextList& operator=(const TextList&) = delete;
  ~TextList() { out_ += close_; }
  void next() {
    if (!first_) out_ += ", ";
    first_ = false;
  }

 private:
  std::string& out_;
  char close_;
  bool first_ = true;
};

template <Described T>
void append_described(std::string& out, const T& value) {
  out += type_name<T>();
  if constexpr (boost::mp11::mp_size<FieldsOf<T>>::value > 0) {
    TextList list(out, '{', '}');
    for_each_field(value, [&](const char* name, const auto& field) {
      list.next();
      out.append(name).append(": ");
      append_text(out, field);
    });
  }
}

// "5.3.1": a number that consists of numbers.
template <Described T>
void append_dotted(std::string& out, const T& value) {
  for_each_field(value, [&](const char*, const auto& field) {
    append_text(out, field);
    out += '.';
  });
  out.pop_back();
}

template <class Range>
void append_range(std::string& out, const Range& range, char open, char close) {
  TextList list(out, open, close);
  for (const auto& element : range) {
    list.next();
    append_text(out, element);
  }
}

template <class T>
void append_text(std::string& out, const T& value) {
  if constexpr (std::same_as<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::signed_integral<T>) {
    append_number(out, std::int64_t{value});
  } else if constexpr (std::integral<T>) {
    append_number(out, std::uint64_t{value});
  } else if constexpr (DescribedEnum<T>) {
    const std::string_view name = enumerator_name(value);
    if (name.empty()) append_unnamed(out, type_name<T>(), static_cast<std::int64_t>(value));
    out += name;
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    append_quoted(out, value);
  } else if constexpr (std::same_as<T, Bytes>) {
    append_bytes(out, value.data);
  } else if constexpr (std::same_as<T, Digest>) {
    append_hexadecimal(out, value.value);
  } else if constexpr (AnyStrong<T>) {
    append_text(out, value.value);
  } else if constexpr (std::same_as<T, Duration>) {
    append_duration(out, value);
  } else if constexpr (std::same_as<T, GroupNumber> || std::same_as<T, ElectionId>) {
    append_dotted(out, value);
  } else if constexpr (AnyOptional<T>) {
    if (value) {
      append_text(out, *value);
    } else {
      out += "none";
    }
  } else if constexpr (AnyVariant<T>) {
    std::visit([&out](const auto& alternative) { append_text(out, alternative); }, value);
  } else if constexpr (AnyVector<T>) {
    append_range(out, value, '[', ']');
  } else if constexpr (AnyMap<T> || std::same_as<T, NodeSet>) {
    append_range(out, value, '{', '}');
  } else if constexpr (is_made_from<T, std::pair>) {
    append_text(out, value.first);
    out += ": ";
    append_text(out, value.second);
  } else if constexpr (Described<T>) {
    append_described(out, value);
  } else {
    static_assert(unknown_kind<T>, "describe the type with MUSTER_DESCRIBE");
  }
}

}  // namespace detail

/// The value as one line for people, such as "Halt{election: 5.3.1}".
template <class T>
std::string to_text(const T& value) {
  std::string out;
  detail::append_text(out, value);
  return out;
}

/// Bytes from another program, made safe for a log: printable, and cut to `most` bytes.
std::string presentable(std::string_view bytes, std::size_t most = 120);

/// A type with a text that is made from its description, or from the descriptions of its parts.
template <class T>
concept HasText =
    Described<T> || DescribedEnum<T> || AnyStrong<T> || AnyOptional<T> || AnyVariant<T> ||
    AnyVector<T> || AnyMap<T> || std::same_as<T, Bytes> || std::same_as<T, NodeSet>;

template <HasText T>
std::ostream& operator<<(std::ostream& out, const T& value) {
  return out << to_text(value);
}

inline std::ostream& operator<<(std::ostream& out, const Failure& failure) {
  return out << failure.what << " (exit code " << static_cast<int>(failure.code) << ')';
}

// These declarations let argument-dependent lookup find the operator for the types of the protocols
// and of hosts.
namespace bully {
using muster::operator<<;
}
namespace host {
using muster::operator<<;
}
namespace invitation {
using muster::operator<<;
}
namespace textbook {
using muster::operator<<;
}

}  // namespace muster
