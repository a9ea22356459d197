#pragma once

#include "apps/base/text.hpp"

#include <CLI/CLI.hpp>
#include <muster/claims/cuts.hpp>

#include <string>

namespace muster::apps {

/// Parses a link such as `1-3` in a cluster of `nodes` nodes. Throws CLI::ValidationError.
inline std::pair<NodeId, NodeId> link_of(const char* flag, const std::string& text,
                                         std::uint64_t nodes) {
  const auto dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto second = dash == text.npos ? std::nullopt : parse_number(text.substr(dash + 1));
  if (!first || !second || *first == 0 || *second == 0 || *first == *second ||
      std::max(*first, *second) > nodes)
    throw CLI::ValidationError(flag, "expected two of the nodes 1 to " + std::to_string(nodes) +
                                         ", such as 1-2, not '" + text + "'");
  const auto node = [](std::uint64_t id) { return NodeId{static_cast<std::uint32_t>(id)}; };
  return std::minmax(node(*first), node(*second));
}

}  // namespace muster::apps
