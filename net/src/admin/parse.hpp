#pragma once

#include <muster/values/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// Parses the text after the words on the admin socket (node/admin_words.cpp).

namespace muster::net {

/// A time in nanoseconds; none if the text is not a number, or is more than a year.
std::optional<Duration> parse_time(std::string_view text);

/// The most lines of the history in one answer, as they are copied on the strand.
inline constexpr std::size_t history_page = 500;

/// A part of the history.
struct Page {
  std::size_t count = history_page;
  std::optional<std::uint64_t> before{};  ///< only lines below this number; none: the last lines
};

/// Parses "COUNT BEFORE". Missing parts have their defaults.
Page parse_page(std::string_view said);

}  // namespace muster::net
