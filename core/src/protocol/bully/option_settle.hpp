#pragma once

#include "answers.hpp"
#include "sight.hpp"

namespace muster::bully {

/// settle: a node that was never assigned anything waits for the others before its first
/// Election(i), so that the first group has all of them.
struct SettleOption {
  Sight sight;

  [[nodiscard]] std::optional<Beginning> judge_beginning(bool settled) const {
    const bool first_start = !sight.node.safe.assigned && sight.config.nodes.size() > 1;
    if (settled || !first_start) return std::nullopt;
    return Beginning::wait_for_others;
  }
};

}  // namespace muster::bully
