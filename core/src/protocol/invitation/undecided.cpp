#include "invitation_turn.hpp"

#include <algorithm>

/// Points that the paper leaves open (invitation/decided.md): hooks that take time and may fail,
/// proofs that nodes are dead, and leaving.

namespace muster::invitation {

// STOP: ends the procedure of this node that runs, refuses a Ready that waits for an answer, and
// makes the application cease.
void InvitationTurn::stop(StopCause cause) {
  end_procedure();
  state_.quiet_checks = 0;
  refuse_owed("stopped meanwhile");
  cease(cause);
}

// The application of this node has stopped, and the procedure that waited for it goes on.
void InvitationTurn::stopped() {
  if (state_.leaving) return depart();
  if (runs<Ceasing>()) return reorganize();
  accept_when_stopped();
  reorganize_when_all_accepted();
}

// The reorganization of a Merge could not be finished, so this node calls Recovery(i). The next
// Merge waits longer.
void InvitationTurn::come_to_nothing() {
  state_.retry_level = std::min(state_.retry_level + 1, highest_level);
  recovery(StopReason::recovering);
}

// A member has refused its Ready, because its `start` failed or it is in a new life. The other
// members are not at fault, so they are invited again at once. Only a Merge with other groups backs
// off.
void InvitationTurn::go_on_without(NodeId refuser) {
  if (!repairs_.back_off) return come_to_nothing();
  state_.retry_level = std::min(state_.retry_level + 1, highest_level);
  drop(refuser);
  merge({});
}

// A life in S(i).Up, or the life of a node whose Accept is awaited, is proven to be over.
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

// Leaving. The application ceases first, and the node answers letters until it has ceased. So its
// members stay members until the node is gone.
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

// The part of S(i) that a failure loses.
void InvitationTurn::fail() {
  state_.s = Status::Down;
  state_.c.reset();
  state_.d.reset();
  state_.g.reset();
  state_.up.clear();
}

// A node stands back after its second failed hook in a group of several nodes, or its third in a
// row. After an earlier failure, the Merge of a coordinator ends without a group, and any other
// node becomes a group of its own.
void InvitationTurn::hook_failed() {
  count_failure(!coordinates() || !state_.up.empty());
  if (has_failed_too_often()) return leave(LeaveCause::stood_back);
  if (coordinates() && !state_.up.empty()) return come_to_nothing();
  recovery(StopReason::recovering);
}

// A node that is outvoted by nodes that differ takes no part until this has changed. Groups may
// work side by side here, so no node waits for nodes that differ to cease.
void InvitationTurn::on_event(const Differing& event) {
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

void InvitationTurn::on_event(const Stopped& event) {
  if (!has_stopped(event)) return;
  stopped();
}

void InvitationTurn::on_event(const Reorganized& event) {
  if (!has_ended(Activity::Reorganizing, event.ticket, Activity::Idle)) return;
  state_.d = event.definition;
  make_ready();
}

void InvitationTurn::on_event(const Started& event) {
  if (!has_ended(Activity::Starting, event.ticket, Activity::Working)) return;
  if (coordinates()) return normal_when_all_ready();
  state_.s = Status::Normal;
  forget_failures(true);
  rearm_coordinator_ = true;
  for (const Owed& owed : std::exchange(state_.owed, {})) answer(owed.to, owed.call, Installed{});
}

void InvitationTurn::on_event(const HookFailed& event) {
  if (!has_failed(event)) return;
  refuse_owed("start failed: " + event.why);
  hook_failed();
}

}  // namespace muster::invitation
