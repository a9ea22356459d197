#include "invitation_turn.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/ensure.hpp>
#include <muster/values/hash.hpp>

#include <algorithm>

namespace muster::invitation {

Actions step(const Config& config, State& state, const Event& event) {
  return InvitationTurn(config, state).take(event);
}

Actions InvitationTurn::take(const Event& event) {
  if (state_.left) return {};
  std::visit([this](const auto& one) { on_event(one); }, event);
  set_timers();
  MUSTER_ENSURE(state_.s == Status::Down || (state_.c && state_.g));
  MUSTER_ENSURE(state_.s != Status::Normal || state_.d);
  // A coordinator-elect always runs a procedure, because no Timeout(i) would ever wake it.
  MUSTER_ENSURE(state_.s == Status::Normal || !coordinates() || !runs<Idle>() || state_.leaving);
  return std::move(actions_);
}

// --- Events

void InvitationTurn::on_event(const Recovered& event) {
  begin_life(event.safe);
  if (!repairs_.safe_counter) state_.counter = 0;
  recovery(StopReason::recovering);
}

void InvitationTurn::on_event(const Received& event) {
  const Letter& letter = event.letter;
  const Incarnation seen = state_.seen[letter.from];
  if (repairs_.tags && letter.incarnation < seen) return;  // the sender's life is over
  if (letter.incarnation > seen) owe_nothing(letter.from);
  note_life(event);
  if (runs<Outvoted>()) return refuse_to_take_part(letter);
  std::visit([&](const auto& message) { called(letter, message); }, letter.message);
}

void InvitationTurn::called(const Letter& letter, const Answer& answer) {
  returned(letter.from, letter.call, &answer.result);
}

void InvitationTurn::on_event(const Unanswered& event) {
  returned(event.by, event.call, nullptr);
}

// Departs from the paper: proof that a life is over has the effect of Timeout(i), or of the next
// Check(i), at once.
void InvitationTurn::on_event(const Failed& event) {
  const auto [k, life] = event;
  owe_nothing(k);
  if (!repairs_.proofs || state_.leaving) return;
  if (coordinates())
    lost_member(k, life);
  else if (state_.c == k)
    timeout();
}

void InvitationTurn::on_event(const Expired& event) {
  switch (event.timer) {
    case Timer::check:
      state_.check_armed = false;
      check();
      break;
    case Timer::coordinator:
      state_.coordinator_armed = false;
      timeout();
      break;
    case Timer::merge:
      if (auto* wait = std::get_if<GivingWay>(&state_.procedure)) back_off(std::move(wait->found));
      break;
    case Timer::retry:
      if (auto* wait = std::get_if<BackingOff>(&state_.procedure)) {
        const NodeSet found = std::move(wait->found);
        state_.procedure = Idle{};
        if (state_.s == Status::Normal) return merge(found);
        state_.procedure = Ceasing{};
        if (state_.application == Activity::Idle) reorganize();
      }
      break;
    case Timer::accepts:
      if (auto* wait = std::get_if<Inviting>(&state_.procedure)) {
        wait->time_is_up = true;
        reorganize_when_all_accepted();
      }
      break;
    case Timer::preempt:
    case Timer::settle:
    case Timer::rejoin:
    case Timer::right:
      break;  // of the Bully
  }
}

// The Invitation does not need assumption 9, but a node that has paused may have lost its group. So
// it recovers as by Recovery(i), in the same life. A node that is leaving becomes Down, and goes on
// leaving.
void InvitationTurn::on_event(const Paused&) {
  stop({StopReason::paused, std::nullopt});
  fail();
  if (!state_.leaving) take_part_again(StopReason::paused);
}

void InvitationTurn::on_event(const Leaving&) {
  leave(LeaveCause::asked);
}

void InvitationTurn::on_event(const ElectionAsked&) {
  if (state_.leaving) return;
  if (runs<MakingReady>() && state_.application == Activity::Working)
    return recovery(StopReason::recovering);
  if (state_.s != Status::Normal) return;
  if (!coordinates()) return recovery(StopReason::recovering);
  if (runs<Idle>() || runs<Checking>()) merge({});
}

// --- Helpers

void InvitationTurn::drop(NodeId node) {
  std::erase_if(state_.up, [&](const Member& j) { return j.node == node; });
}

void InvitationTurn::end_procedure() {
  if (runs<BackingOff>()) actions_.emplace_back(Disarm{Timer::retry});
  if (runs<GivingWay>()) actions_.emplace_back(Disarm{Timer::merge});
  if (runs<Inviting>()) actions_.emplace_back(Disarm{Timer::accepts});
  state_.procedure = Idle{};
}

// In the paper a node that refuses a call answers as if it had accepted, and the caller goes on.
void InvitationTurn::refuse(NodeId to, CallNumber call, Result unreported, std::string why) {
  answer(to, call, repairs_.report_refusals ? Refused{std::move(why)} : std::move(unreported));
}

void InvitationTurn::refuse_owed(const std::string& why) {
  for (const Owed& owed : std::exchange(state_.owed, {}))
    refuse(owed.to, owed.call, Installed{}, why);
}

// Departs from the paper: a node learns counters from others, so that a node's next group always
// has a higher number (invitation/findings.md, "The group counter").
void InvitationTurn::learn(std::uint64_t counter) {
  if (repairs_.growing_numbers) state_.counter = std::max(state_.counter, counter);
}

void InvitationTurn::save() {
  TurnOf::save({state_.s, state_.c, std::nullopt, up()});
}

// The timer `coordinator` starts Timeout(i). This timer runs on a member, in every status, while no
// procedure of the member runs. The timer `check` runs on a Normal coordinator.
void InvitationTurn::set_timers() {
  const bool here = !state_.leaving && !state_.left;
  set_timer(Timer::check, state_.check_armed, here && state_.s == Status::Normal && coordinates(),
            rearm_check_);
  set_timer(Timer::coordinator, state_.coordinator_armed, here && runs<Idle>() && !coordinates(),
            rearm_coordinator_);
}

// --- The view for others

View view(const Config& config, const State& state, const View& before) {
  View view;
  view.status = state.s;
  if (state.s == Status::Reorganization || state.s == Status::Normal) {
    view.coordinator = state.c;
    view.group = state.g;
  }
  if (view.coordinator == config.self) {
    view.up.emplace();
    for (const Member& j : state.up) view.up->insert(j.node);
  }
  if (state.s == Status::Normal) view.definition = digest_of(state.d, state.g, before);
  view.procedure = wait_of(state.procedure);
  view.application = state.application;
  return view;
}

bool awaits(const State& state, CallNumber call) {
  return std::visit(
      [&](const auto& wait) {
        if constexpr (requires { wait.asked; })
          return wait.asked.contains(call);
        else if constexpr (requires { wait.invited; })
          return wait.invited.contains(call);
        else if constexpr (requires { wait.readied; })
          return wait.readied.contains(call);
        else if constexpr (requires { wait.call; })
          return wait.call == call;
        else
          return false;
      },
      state.procedure);
}

}  // namespace muster::invitation
