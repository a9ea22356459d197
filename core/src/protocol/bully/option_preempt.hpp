#pragma once

#include "answers.hpp"
#include "sight.hpp"

namespace muster::bully {

/// preempt = "never", or after a while: a higher node joins a lower coordinator.
struct PreemptOption {
  Sight sight;
  std::optional<NodeId>& found_by;

  /// Every life waits to be found by a Normal coordinator's Check; Timeout(i) calls Election(i) if
  /// none comes.
  [[nodiscard]] Beginning judge_beginning() const { return Beginning::wait_to_be_found; }

  [[nodiscard]] std::optional<Reply> judge_reply(NodeId j) const;
  Found judge_found(NodeId j);

  /// No order has every other candidate halted before those whom it may have appointed. Rounds of
  /// lives have, in which whoever was a candidate in the first is none in the last. Silence in
  /// phase A spares nobody a Halt: it may be a member (6.19).
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
