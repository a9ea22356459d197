#include "invitation_turn.hpp"

#include <algorithm>

/// What the paper leaves open (docs/decisions/invitation.md): hooks that take time and fail, nodes
/// that are proven dead, leaving.

namespace muster::invitation {

// STOP: whatever procedure of i runs is ended, a Ready that waits at i is refused, and the
// application ceases.
void InvitationTurn::stop(StopCause cause) {
  end_procedure();
  state_.quiet_checks = 0;
  refuse_owed("stopped meanwhile");
  cease(cause);
}

// i is stopped: what waited for it goes on.
void InvitationTurn::stopped() {
  if (state_.leaving) return depart();
  if (runs<Ceasing>()) return reorganize();
  accept_when_stopped();
  reorganize_when_all_accepted();
}

// The reorganization of a Merge could not be finished: Recovery(i).
void InvitationTurn::come_to_nothing() {
  state_.retry_level = std::min(state_.retry_level + 1, highest_level);
  recovery(StopReason::recovering);
}

// A member has refused its Ready: its `start` failed, or it has failed itself. The others have done
// nothing wrong: they are invited again at once, and only a Merge with others backs off.
void InvitationTurn::go_on_without(NodeId refuser) {
  if (!repairs_.back_off) return come_to_nothing();
  state_.retry_level = std::min(state_.retry_level + 1, highest_level);
  drop(refuser);
  merge({});
}

// A life in S(i).Up, or of a node that was to accept, is proven over.
void InvitationTurn::lost_member(NodeId node, Incarnation life) {
  if (auto* inviting = std::get_if<Inviting>(&state_.procedure)) {
    if (const Member* j = member(node); j && j->incarnation <= life) drop(node);
    inviting->coming.erase(node);
    return reorganize_when_all_accepted();
  }
  const Member* lost = member(node);
  if (!lost || life < lost->incarnation) return;
  if (state_.s == Status::Reorganization) return come_to_nothing();
  if (!repairs_.lost_members || state_.s != Status::Normal) return;
  drop(node);
  if (runs<Idle>() || runs<Checking>()) merge({});
}

// Leaving: all has to cease first. Letters are still answered: members stay members until the node
// is gone.
void InvitationTurn::leave(LeaveCause cause) {
  state_.leaving = cause;
  stop(
      {cause == LeaveCause::asked ? StopReason::leaving : StopReason::standing_back, std::nullopt});
  if (state_.application == Activity::Idle) depart();
}

void InvitationTurn::depart() {
  fail();
  state_.left = true;
  actions_.emplace_back(Leave{*state_.leaving});
}

// What a failure makes of S(i).
void InvitationTurn::fail() {
  state_.s = Status::Down;
  state_.c.reset();
  state_.d.reset();
  state_.g.reset();
  state_.up.clear();
}

// After the second failure in company, or the third in a row, this node stands back; before that it
// becomes a group of its own, and a coordinator's Merge has come to nothing.
void InvitationTurn::hook_failed() {
  count_failure(!coordinates() || !state_.up.empty());
  if (has_failed_too_often()) return leave(LeaveCause::stood_back);
  if (coordinates() && !state_.up.empty()) return come_to_nothing();
  recovery(StopReason::recovering);
}

// Who is outvoted by nodes that differ takes no part, until it is not any more. Groups may be at
// work side by side here: nobody waits for those that differ to cease.
void InvitationTurn::happened(const Differing& event) {
  state_.met = event;
  if (state_.leaving || outvoted() == runs<Outvoted>()) return;
  stop({StopReason::outvoted, std::nullopt});
  fail();
  take_part_again(StopReason::recovering);
}

void InvitationTurn::take_part_again(StopReason reason) {
  if (!outvoted()) return recovery(reason);
  end_procedure();
  state_.procedure = Outvoted{};
}

// --- Hooks end
// --------------------------------------------------------------------------------------

void InvitationTurn::happened(const Stopped& event) {
  if (!has_stopped(event)) return;
  stopped();
}

void InvitationTurn::happened(const Reorganized& event) {
  if (!has_ended(Activity::Reorganizing, event.ticket, Activity::Idle)) return;
  state_.d = event.definition;
  make_ready();
}

void InvitationTurn::happened(const Started& event) {
  if (!has_ended(Activity::Starting, event.ticket, Activity::Working)) return;
  if (coordinates()) return normal_when_all_ready();
  state_.s = Status::Normal;
  forget_failures(true);
  rearm_coordinator_ = true;
  for (const Owed& owed : std::exchange(state_.owed, {})) answer(owed.to, owed.call, Installed{});
}

void InvitationTurn::happened(const HookFailed& event) {
  if (!has_failed(event)) return;
  refuse_owed("start failed: " + event.why);
  hook_failed();
}

}  // namespace muster::invitation
