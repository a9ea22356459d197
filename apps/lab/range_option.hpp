#pragma once

#include "apps/base/text.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace muster::apps {

/// The numbers of an option: "5" or "3..7". Throws CLI::ValidationError.
inline std::pair<std::uint64_t, std::uint64_t> range_of(const char* flag, const std::string& text) {
  const auto dots = text.find("..");
  const auto first = parse_number(text.substr(0, dots));
  const auto last = dots == std::string::npos ? first : parse_number(text.substr(dots + 2));
  if (!first || !last || *last < *first)
    throw CLI::ValidationError(flag, "expected a number, or a range such as 3..7, not " + text);
  return {*first, *last};
}

}  // namespace muster::apps
