#include "bully_turn.hpp"

#include <utility>

/// A coordinator that left its group while its members work on (docs/decisions/left-behind.md). The
/// paper has none: each node hears each other (assumption 8), so a Halt of the next coordinator
/// reaches every member.

namespace muster::bully {

Message BullyTurn::question_to_coordinator() const {
  if (question_names_group()) return in_group::AreYouThere{*state_.g};
  return AreYouThere{};
}

// An answer of a higher node ends Election(i), and changes nothing. Once is no reason to stop: that
// node may be about to halt this one. Twice without a word of the coordinator is: the higher node
// works in a group that this node does not reach.
void BullyTurn::election_left_to_higher() {
  if (!works_in_group() || !second_election_recovers()) return;
  if (options_.judge_lower_group() == LowerGroup::ends_by_right) return;
  if (std::exchange(state_.left_to_higher, true)) return recover(StopReason::recovering);
  state_.quiet_checks = 0;
}

// A node that waits for those that differ halts a lower coordinator afterwards. Until then that
// group works on: by a No its coordinator would try an election in vain, twice, and recover.
bool BullyTurn::is_about_to_halt(NodeId j) const {
  if (options_.judge_lower_group() != LowerGroup::halts) return false;
  return runs<Rejoining>() && j < config_.self && second_election_recovers();
}

void BullyTurn::coordinator_is_heard() {
  state_.left_to_higher = false;
}

}  // namespace muster::bully
