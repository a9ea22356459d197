#include "invitation_turn.hpp"

#include <algorithm>

/// The statements that follow each CALL of the paper, when it is answered and ONTIMEOUT.

namespace muster::invitation {

void InvitationTurn::returned(NodeId by, CallNumber call, const Result* result) {
  const auto is_out = [&](Calls& calls) { return take_out(calls, by, call); };
  if (auto* checking = std::get_if<Checking>(&state_.procedure)) {
    if (is_out(checking->asked)) coordinator_returned(by, result);
  } else if (auto* inviting = std::get_if<Inviting>(&state_.procedure)) {
    if (is_out(inviting->invited)) invitation_returned(by, result);
  } else if (auto* forwarding = std::get_if<Forwarding>(&state_.procedure)) {
    if (is_out(forwarding->invited)) forward_returned(by, result);
  } else if (auto* accepting = std::get_if<Accepting>(&state_.procedure)) {
    if (accepting->call == call && accepting->node == by) accept_returned(result);
  } else if (auto* making = std::get_if<MakingReady>(&state_.procedure)) {
    if (is_out(making->readied)) ready_returned(by, result);
  } else if (auto* probing = std::get_if<Probing>(&state_.procedure)) {
    if (probing->call == call && probing->node == by) probe_returned(result);
  }
}

// AreYouCoordinator: Yes -> K := K + {j}; timeout -> next j. Departs from the paper: a member that
// does not answer, or is in another group by now, is lost. In the paper a coordinator never notices
// such a loss.
void InvitationTurn::coordinator_returned(NodeId by, const Result* result) {
  auto& wait = std::get<Checking>(state_.procedure);
  const auto* coordinating = as<Coordinating>(result);
  if (coordinating) learn(coordinating->counter);
  if (coordinating && coordinating->coordinator) wait.found.insert(by);
  if (member(by) && !(coordinating && coordinating->group == state_.g)) wait.lost.insert(by);
  call_next(wait.asked, wait.not_asked, AreYouCoordinator{}, Bound::answer);
  if (wait.asked.empty()) check_returned();
}

// The end of Check(i): if K = {}: return; otherwise Merge(i, K), when higher coordinators have had
// their time.
void InvitationTurn::check_returned() {
  const auto wait = std::get<Checking>(std::exchange(state_.procedure, Idle{}));
  const bool lost = repairs_.lost_members && !wait.lost.empty();
  if (lost)
    for (NodeId j : wait.lost) drop(j);
  if (!wait.found.empty()) {
    state_.quiet_checks = 0;
    give_way(wait.found);
  } else if (lost) {
    state_.quiet_checks = 0;
    back_off({});
  } else if (++state_.quiet_checks >= quiet_enough) {
    state_.quiet_checks = 0;
    state_.retry_level = 0;
  }
}

// Invitation: timeout -> next j. If the node has said that it will come, this node waits for its
// Accept.
void InvitationTurn::invitation_returned(NodeId by, const Result* result) {
  const auto* invited = as<Invited>(result);
  if (invited) learn(invited->counter);
  if (invited && invited->coming && !member(by))
    std::get<Inviting>(state_.procedure).coming.insert(by);
  invite();
}

// A forwarded Invitation: timeout -> next k.
void InvitationTurn::forward_returned(NodeId by, const Result* result) {
  const auto* invited = as<Invited>(result);
  if (invited && invited->coming) std::get<Forwarding>(state_.procedure).coming.insert(by);
  forward();
}

// Accept: timeout -> Recovery(i); S.s := Reorganization. Departs from the paper: a refused Accept
// is reported, and leads to Recovery(i) at once.
void InvitationTurn::accept_returned(const Result* result) {
  end_procedure();
  if (!as<Here>(result)) return recovery(StopReason::recovering);
  state_.s = Status::Reorganization;
}

// Ready: timeout -> Recovery(i); return. Departs from the paper: a member that refuses is left out,
// and the others are invited again.
void InvitationTurn::ready_returned(NodeId by, const Result* result) {
  if (as<Refused>(result)) return go_on_without(by);
  if (!as<Installed>(result)) return come_to_nothing();
  send_ready();
  normal_when_all_ready();
}

// AreYouThere: timeout -> Recovery(i); "No" -> Recovery(i). Departs from the paper: the answer is
// ignored if this node has left the group, or changed its status, since it asked.
void InvitationTurn::probe_returned(const Result* result) {
  const auto wait = std::get<Probing>(std::exchange(state_.procedure, Idle{}));
  const bool is_over = state_.c != wait.node || state_.g != wait.group || state_.s != wait.status;
  if (repairs_.recheck_probe && is_over) return;
  const auto* membership = as<Membership>(result);
  if (!membership || !membership->member) recovery(StopReason::recovering);
}

}  // namespace muster::invitation
