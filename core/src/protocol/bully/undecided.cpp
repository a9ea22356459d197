#include "bully_turn.hpp"

#include <algorithm>

/// What the paper leaves open (section 3.3): hooks that take time and fail, starting over, leaving.

namespace muster::bully {

// STOP: whatever procedure of i runs is ended, every NewCoordinator and Ready that waits at i is
// refused, and the application ceases.
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

// i is stopped: what waited for it goes on. A node that stands back now answers no NewCoordinator:
// the proof that its life is over tells the coordinator at once, and makes nobody back off.
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

// i starts over = [[ S.s := Election; S.h := i; S.Up := {} ]], STOP, Election(i). The paper only
// calls Election(i), and may leave a coordinator-elect waiting for ever (6.7).
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

// Leaving: all has to cease first. Letters are still answered: a node that fell silent while it
// stops would have a new group start beside it.
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

// What a failure makes of S(i): S.s := Down, and S.h undefined when it recovers.
void BullyTurn::fail() {
  state_.s = Status::Down;
  if (h_undefined_at_recovery()) state_.h.reset();
  forget_group();
  state_.answered_by.reset();
  options_.has_failed();
}

// What Recovery(i) does, in the same life. A node that leaves goes on leaving.
void BullyTurn::recover(StopReason reason) {
  stop({reason, std::nullopt});
  fail();
  if (!state_.leaving) take_part_again();
}

// A node in S.Up is proven dead. In Normal an election that runs already will find out by itself.
void BullyTurn::lost_member() {
  if (state_.s == Status::Normal) {
    if (repairs_.lost_members && (runs<Idle>() || runs<Checking>())) election();
  } else if (runs<Announcing>() || runs<Reorganizing>() || runs<MakingReady>() || runs<Idle>()) {
    start_over(true);
  }
}

// While NewCoordinator, Ready or reorganize take longer than one `check`: AreYouThere to all in
// S.Up, so that a silent death costs T and not the longer bound.
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

// One call of Check(i), unless that node is still being asked.
void BullyTurn::ask_normal(NodeId node) {
  if (node == config_.self || state_.leaving || !(runs<Idle>() || runs<Checking>())) return;
  if (runs<Idle>()) state_.procedure = Checking{};
  auto& wait = std::get<Checking>(state_.procedure);
  if (asks(wait.asked, node) || wait.not_asked.contains(node)) return;
  wait.asked.emplace(call(node, AreYouNormal{*state_.g}, Bound::answer), node);
}

// A Check has found nothing when the next one begins and it was not forgotten.
void BullyTurn::count_quiet_check() {
  const bool has_ended = runs<Idle>();  // the Check before
  if (state_.quiet_checks > 0 && has_ended) coordinator_is_heard();
  if (state_.quiet_checks == quiet_enough)
    state_.retry_level = 0;
  else
    ++state_.quiet_checks;
}

// Check(i) where calls go one by one.
void BullyTurn::ask_each_normal() {
  Checking wait;
  wait.not_asked = config_.nodes;
  wait.not_asked.erase(config_.self);
  state_.procedure = std::move(wait);
  ask_next_normal();
}

// Where calls go one by one: the next call of Check(i), or its end.
void BullyTurn::ask_next_normal() {
  auto& wait = std::get<Checking>(state_.procedure);
  if (wait.asked.empty() && wait.not_asked.empty()) return end_procedure();
  call_next(wait.asked, wait.not_asked, AreYouNormal{*state_.g}, Bound::answer);
}

// After the second failure in company, or the third in a row, this node stands back. A coordinator
// starts over before that. A member leaves when its coordinator, which has been told, has halted it
// and it is stopped: a node that leaves refuses NewCoordinator, and the others would back off.
void BullyTurn::hook_failed() {
  const bool is_member = !coordinates();
  count_failure(is_member || !state_.up.empty());
  if (is_member) return;
  if (has_failed_too_often()) return leave(LeaveCause::stood_back);
  if (runs<Reorganizing>() || runs<MakingReady>()) start_over(false);
}

// --- Hooks end
// --------------------------------------------------------------------------------------

void BullyTurn::happened(const Stopped& event) {
  if (!has_stopped(event)) return;
  stopped();
}

void BullyTurn::happened(const Reorganized& event) {
  if (!has_ended(Activity::Reorganizing, event.ticket, Activity::Idle)) return;
  if (!runs<Reorganizing>()) return;
  state_.d = event.definition;
  make_ready();
}

void BullyTurn::happened(const Started& event) {
  if (!has_ended(Activity::Starting, event.ticket, Activity::Working)) return;
  if (coordinates()) return normal_when_all_ready();
  state_.s = Status::Normal;
  forget_failures(true);
  state_.retry_level = 0;
  rearm_coordinator_ = true;
  for (const Owed& owed : std::exchange(state_.owed, {})) answer(owed.to, owed.call, Installed{});
}

void BullyTurn::happened(const HookFailed& event) {
  if (!has_failed(event)) return;
  for (const Owed& owed : std::exchange(state_.owed, {}))
    refuse(owed.to, owed.call, owed.until, "start failed: " + event.why);
  hook_failed();
}

}  // namespace muster::bully
