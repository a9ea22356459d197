#include "bully_turn.hpp"

#include <utility>

/// A member that its coordinator has left (docs/decisions/left-behind.md).
///
/// In the paper no coordinator leaves a member behind. Every node hears every other (assumption 8),
/// so a candidate that halts a coordinator also halts its members. On a real network one link may
/// be cut. Then a member misses the Halt, and its former coordinator still answers AreYouThere,
/// because every node that is up answers that question. The member would work in its old group for
/// ever, beside the new one.
///
/// Three rules end such work. The switch `left_behind` turns all three on.
/// - R1: Timeout(i) of a member asks about the member's group (`question_to_coordinator`). A
/// coordinator that is no longer in that group answers No.
/// - R2: A member that gets this No recovers in the same life (`probe_returned`).
/// - R3: A node in a group also recovers if it leaves an election to a higher node for the second
/// time without having heard its coordinator in between (`election_left_to_higher`). R3 is for a
/// node that cannot reach its coordinator at all, and for a coordinator that itself misses a Halt.

namespace muster::bully {

Message BullyTurn::question_to_coordinator() const {
  if (question_names_group()) return in_group::AreYouThere{*state_.g};
  return AreYouThere{};
}

// R3. In the paper a higher node's answer ends Election(i) and changes nothing. The first such
// answer is no reason to stop, since the higher node may be about to halt this one. A second such
// answer, without a letter from the coordinator in between, is a reason: the higher node works in a
// group that does not reach this node. With a quorum, the end of the right to work stops such a
// node too.
void BullyTurn::election_left_to_higher() {
  if (!works_in_group() || !second_election_recovers()) return;
  if (options_.judge_lower_group() == LowerGroup::ends_by_right) return;
  if (std::exchange(state_.left_to_higher, true)) return recover(StopReason::recovering);
  state_.quiet_checks = 0;
}

// A node that waits for nodes that differ will halt a lower coordinator when its wait is over.
// Until then it answers Yes to that coordinator's AreYouNormal, so that the lower group works on.
// After a No the lower coordinator would try two elections in vain, and recover by R3.
bool BullyTurn::is_about_to_halt(NodeId j) const {
  if (options_.judge_lower_group() != LowerGroup::halts) return false;
  return runs<Rejoining>() && j < config_.self && second_election_recovers();
}

void BullyTurn::coordinator_is_heard() {
  state_.left_to_higher = false;
}

}  // namespace muster::bully
