#pragma once

#include "answers.hpp"
#include "sight.hpp"

namespace muster::bully {

/// preempt = "never" or "after ...": a higher node that comes back joins a lower coordinator, and
/// takes over later or never. In the paper such a node halts the lower nodes at once.
struct PreemptOption {
  Sight sight;
  std::optional<NodeId>& found_by;

  /// A new life waits until the Check(i) of a Normal coordinator finds it. If no coordinator finds
  /// it, Timeout(i) calls Election(i).
  [[nodiscard]] Beginning judge_beginning() const { return Beginning::wait_to_be_found; }

  [[nodiscard]] std::optional<Reply> judge_reply(NodeId j) const;
  Found judge_found(NodeId j);

  /// With this option a candidate may be below nodes that it halts. So no order of Halts guarantees
  /// that a rival is halted before the nodes it recruited, and Halts go out in rounds
  /// (halt_orders.cpp). A node that was silent in phase A is halted too, since it may be a member
  /// of a group.
  [[nodiscard]] HaltOrder judge_order() const { return HaltOrder::rounds; }
  [[nodiscard]] LowerGroup judge_lower_group() const { return LowerGroup::joins; }

  [[nodiscard]] std::optional<Membership> judge_member(const Result* answer) const;
  [[nodiscard]] std::optional<Coordinator> judge_coordinator(NodeId j) const;
  [[nodiscard]] Takeover judge_takeover() const;

  void new_life_of(NodeId j);
  void election_begins() { found_by.reset(); }
  void halted_by(NodeId j);
  void joins(NodeId j);
  void has_failed() { found_by.reset(); }

 private:
  [[nodiscard]] bool stands_back_for(NodeId candidate) const;
  [[nodiscard]] bool is_wrongly_taken_for_coordinator_by(NodeId j) const;
};

}  // namespace muster::bully
