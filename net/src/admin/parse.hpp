#pragma once

#include <muster/values/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// What stands behind the words that the owner of a node says (owner.cpp).

namespace muster::net {

/// A time in nanoseconds; none where it is no number, or more than a year.
std::optional<Duration> parse_time(std::string_view text);

/// Lines of the history that are given at once: the strand copies them.
inline constexpr std::size_t history_page = 500;

/// Which lines of the history.
struct Page {
  std::size_t count = history_page;
  std::optional<std::uint64_t> before{};  ///< those below that number; none: the last
};

/// "COUNT BEFORE", or less.
Page parse_page(std::string_view said);

}  // namespace muster::net
