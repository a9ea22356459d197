#include "bully_turn.hpp"

#include <algorithm>

/// Points that the paper leaves open (bully/decided.md): hooks that take time and may fail,
/// starting over, and leaving. The paper's application stops and starts in no time, and never
/// fails.

namespace muster::bully {

// STOP: ends the procedure of this node that runs, refuses each NewCoordinator and Ready that waits
// for an answer, and makes the application cease. If an election went on after STOP, it would reach
// its election point beside the node that halted it (bully/findings.md, "What STOP ends";
// docs/findings.md, M1).
void BullyTurn::stop(StopCause cause) {
  if (stop_ends_election()) end_procedure();
  state_.quiet_checks = 0;
  refuse_waiting_calls();
  cease(cause);
}

void BullyTurn::refuse_waiting_calls() {
  for (const Owed& owed : std::exchange(state_.owed, {})) {
    if (owed.until == Bound::answer ||
        (owed.until == Bound::stopped && !stop_refuses_waiting_calls()))
      state_.owed.push_back(owed);
    else
      refuse(owed.to, owed.call, owed.until, "stopped meanwhile");
  }
}

// The application of this node has stopped, and the calls that waited for it are answered. A node
// that is about to stand back does not answer NewCoordinator. Instead, the life of the node ends at
// once, and the proof of this end makes the coordinator start over without backing off.
void BullyTurn::stopped() {
  const bool stands_back = !state_.leaving && has_failed_too_often();
  for (const Owed& owed : std::exchange(state_.owed, {})) {
    if (owed.until == Bound::answer)
      answer(owed.to, owed.call, Halted{state_.counter, {true}});
    else if (!stands_back)
      answer(owed.to, owed.call, Joined{holdings()});
  }
  if (state_.leaving) return depart();
  if (stands_back) return leave(LeaveCause::stood_back);
  if (runs<Ceasing>()) return halt_next(config_.self);
  reorganize_when_all_stopped();
}

// Departs from the paper: [[ S.s := Election; S.h := i; S.Up := {} ]], STOP, Election(i). In the
// paper a coordinator-elect that loses a member only calls Election(i). A higher node may answer
// this election's question and then fail. Then this node stays in Reorganization as its own
// coordinator, and no procedure ever runs again (bully/findings.md, "A coordinator stuck in
// reorganization"; docs/findings.md, G4).
//
// `proven`: a death was proven, so the election begins at once. Otherwise the wait before it grows
// from 0 to T, 2 T, 4 T and 8 T, so that two candidates do not disturb each other for ever.
void BullyTurn::start_over(bool proven, NodeSet called_in_vain) {
  if (repairs_.start_over_halted) {
    state_.s = Status::Election;
    state_.h = own_election();
    forget_group();
    stop({StopReason::starting_over, std::nullopt});
  }
  if (proven || !repairs_.back_off) return election(std::move(called_in_vain));
  const unsigned level = state_.retry_level;
  state_.retry_level = std::min(level + 1, highest_level);
  if (level == 0) return election(std::move(called_in_vain));
  end_procedure();
  state_.procedure = BackingOff{};
  actions_.emplace_back(Arm{Timer::retry, level - 1});
}

// Leaving. The application ceases first, and the node answers letters until it has ceased. If the
// node fell silent at once, the others would take it for dead and form a new group while its
// application still works (docs/findings.md, V8).
void BullyTurn::leave(LeaveCause cause) {
  state_.leaving = cause;
  stop(
      {cause == LeaveCause::asked ? StopReason::leaving : StopReason::standing_back, std::nullopt});
  if (state_.application == Activity::Idle) depart();
}

void BullyTurn::depart() {
  fail();
  state_.left = true;
  actions_.emplace_back(Leave{*state_.leaving});
}

// The part of S(i) that a failure loses: S.s := Down, and S.h undefined, as it is after recovery.
void BullyTurn::fail() {
  state_.s = Status::Down;
  if (h_undefined_at_recovery()) state_.h.reset();
  forget_group();
  state_.answered_by.reset();
  options_.has_failed();
}

// Recovers as by Recovery(i), in the same life. A node that is leaving becomes Down too, but goes
// on leaving.
void BullyTurn::recover(StopReason reason) {
  stop({reason, std::nullopt});
  fail();
  if (!state_.leaving) take_part_again();
}

// A life in S(i).Up is proven to be over. An election that runs already will notice the end itself.
void BullyTurn::lost_member() {
  if (state_.s == Status::Normal) {
    if (repairs_.lost_members && (runs<Idle>() || runs<Checking>())) election();
  } else if (runs<Announcing>() || runs<Reorganizing>() || runs<MakingReady>() || runs<Idle>()) {
    start_over(true);
  }
}

// While NewCoordinator, Ready or reorganize take longer than one `check`, the coordinator asks all
// of S(i).Up whether they are there. A silent death then costs T, and not the longer bound of those
// calls.
void BullyTurn::ask_members() {
  Calls* questions = this->questions();
  if (!questions) return;
  for (const Member& j : state_.up) {
    if (asks(*questions, j.node)) continue;
    questions->emplace(call(j.node, question(), Bound::answer), j.node);
  }
  if (runs<Announcing>()) ask_others();
}

Message BullyTurn::question() const {
  if (options_.judge_asking() == Asking::are_you_normal) return AreYouNormal{*state_.g};
  return AreYouThere{};
}

// Asks `node` AreYouNormal, as Check(i) does, unless it is being asked already.
void BullyTurn::ask_normal(NodeId node) {
  if (node == config_.self || state_.leaving || !(runs<Idle>() || runs<Checking>())) return;
  if (runs<Idle>()) state_.procedure = Checking{};
  auto& wait = std::get<Checking>(state_.procedure);
  if (asks(wait.asked, node) || wait.not_asked.contains(node)) return;
  wait.asked.emplace(call(node, AreYouNormal{*state_.g}, Bound::answer), node);
}

// A Check counts as quiet if it has ended, and has found nothing, before the next one begins. A
// Check that still runs is not quiet: a coordinator that was left behind could otherwise go round
// for ever without recovering (docs/findings.md, "Links that stay cut"). Ten quiet Checks in a row
// reset the level of `retry`.
void BullyTurn::count_quiet_check() {
  const bool has_ended = runs<Idle>();  // the previous Check
  if (state_.quiet_checks > 0 && has_ended) coordinator_is_heard();
  if (state_.quiet_checks == quiet_enough)
    state_.retry_level = 0;
  else
    ++state_.quiet_checks;
}

// Check(i) with calls one by one, as in the paper.
void BullyTurn::ask_each_normal() {
  Checking wait;
  wait.not_asked = config_.nodes;
  wait.not_asked.erase(config_.self);
  state_.procedure = std::move(wait);
  ask_next_normal();
}

// Sends the next call of such a Check, or ends the Check.
void BullyTurn::ask_next_normal() {
  auto& wait = std::get<Checking>(state_.procedure);
  if (wait.asked.empty() && wait.not_asked.empty()) return end_procedure();
  call_next(wait.asked, wait.not_asked, AreYouNormal{*state_.g}, Bound::answer);
}

// A node stands back after its second failed hook in a group of several nodes, or its third in a
// row. Until then, a coordinator starts over after a failed hook. A member does not leave at once:
// its coordinator has been told of the failure and halts it, and it leaves when it has stopped
// (`stopped`). If the member left at once, it would refuse the next NewCoordinator, and its
// coordinator would back off.
void BullyTurn::hook_failed() {
  const bool is_member = !coordinates();
  count_failure(is_member || !state_.up.empty());
  if (is_member) return;
  if (has_failed_too_often()) return leave(LeaveCause::stood_back);
  if (runs<Reorganizing>() || runs<MakingReady>()) start_over(false);
}

// --- Hooks end

void BullyTurn::on_event(const Stopped& event) {
  if (!has_stopped(event)) return;
  stopped();
}

void BullyTurn::on_event(const Reorganized& event) {
  if (!has_ended(Activity::Reorganizing, event.ticket, Activity::Idle)) return;
  if (!runs<Reorganizing>()) return;
  state_.d = event.definition;
  make_ready();
}

void BullyTurn::on_event(const Started& event) {
  if (!has_ended(Activity::Starting, event.ticket, Activity::Working)) return;
  if (coordinates()) return normal_when_all_ready();
  state_.s = Status::Normal;
  forget_failures(true);
  state_.retry_level = 0;
  rearm_coordinator_ = true;
  for (const Owed& owed : std::exchange(state_.owed, {})) answer(owed.to, owed.call, Installed{});
}

void BullyTurn::on_event(const HookFailed& event) {
  if (!has_failed(event)) return;
  for (const Owed& owed : std::exchange(state_.owed, {}))
    refuse(owed.to, owed.call, owed.until, "start failed: " + event.why);
  hook_failed();
}

}  // namespace muster::bully
