#pragma once

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <ostream>
#include <type_traits>

/// Boost.Test prints both sides of a comparison that fails. Every test has this file
/// (tests/CMakeLists.txt).

namespace boost::test_tools::tt_detail {

/// A value, as `to_text` writes it.
template <muster::HasText T>
struct print_log_value<T> {
  void operator()(std::ostream& out, const T& value) const { out << muster::to_text(value); }
};

/// An enumeration without a description, such as an exit code, as its number.
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
