#pragma once

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <ostream>
#include <type_traits>

/// Makes Boost.Test print both sides of a comparison that fails. The build includes this file in
/// every test (tests/CMakeLists.txt).

namespace boost::test_tools::tt_detail {

/// Prints a value as `to_text` writes it.
template <muster::HasText T>
struct print_log_value<T> {
  void operator()(std::ostream& out, const T& value) const { out << muster::to_text(value); }
};

/// Prints an enumeration that has no description, such as an exit code, as its number.
template <class T>
requires(std::is_enum_v<T> && !muster::HasText<T>) struct print_log_value<T> {
  void operator()(std::ostream& out, T value) const {
    out << +static_cast<std::underlying_type_t<T>>(value);
  }
};

/// Any length of time.
template <class Rep, class Period>
struct print_log_value<std::chrono::duration<Rep, Period>> {
  void operator()(std::ostream& out, std::chrono::duration<Rep, Period> value) const {
    out << muster::to_text(std::chrono::duration_cast<muster::Duration>(value));
  }
};

template <>
struct print_log_value<std::nullopt_t> {
  void operator()(std::ostream& out, std::nullopt_t) const { out << "none"; }
};

}  // namespace boost::test_tools::tt_detail
