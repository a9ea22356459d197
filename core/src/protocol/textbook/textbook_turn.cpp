#include "textbook_turn.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/ensure.hpp>
#include <muster/values/hash.hpp>

#include <algorithm>

/// Points that textbooks leave open: how a failure is noticed, and how the application follows.

namespace muster::textbook {

Actions step(const Config& config, State& state, const Event& event) {
  return TextbookTurn(config, state).take(event);
}

Actions TextbookTurn::take(const Event& event) {
  if (state_.left) return {};
  std::visit([this](const auto& one) { on_event(one); }, event);
  set_coordinator_timer();
  MUSTER_ENSURE(state_.s != Status::Normal || (state_.c && state_.g && state_.d));
  return std::move(actions_);
}

// --- Events

void TextbookTurn::on_event(const Recovered& event) {
  begin_life(event.safe);
  election();
}

void TextbookTurn::on_event(const Received& event) {
  const Letter& letter = event.letter;
  note_life(event);
  if (letter.from == state_.c) rearm_ = true;
  if (runs<Outvoted>()) return;
  std::visit([&](const auto& message) { called(letter, message); }, letter.message);
}

void TextbookTurn::on_event(const Unanswered& event) {
  if (state_.announced.erase(event.call) > 0) return;
  if (const auto* probing = std::get_if<Probing>(&state_.procedure)) {
    if (probing->call == event.call) election();
  } else if (auto* asking = std::get_if<Asking>(&state_.procedure)) {
    if (asking->asked.erase(event.call) > 0 && asking->asked.empty()) nobody_answered();
  }
}

void TextbookTurn::on_event(const Expired& event) {
  if (event.timer == Timer::coordinator) {
    state_.coordinator_armed = false;
    timeout();
  } else if (event.timer == Timer::retry && runs<BackingOff>()) {
    state_.procedure = Idle{};
    election();
  }
}

// A node that is outvoted by nodes that differ takes no part until this has changed.
void TextbookTurn::on_event(const Differing& event) {
  state_.met = event;
  if (state_.leaving || outvoted() == runs<Outvoted>()) return;
  if (!outvoted()) return election();
  end_procedure();
  cease({StopReason::outvoted, std::nullopt});
  state_.s = Status::Down;
  state_.procedure = Outvoted{};
}

void TextbookTurn::on_event(const Leaving&) {
  leave(LeaveCause::asked);
}

void TextbookTurn::on_event(const ElectionAsked&) {
  if (!state_.leaving && runs<Idle>()) election();
}

// --- A failure is noticed

// The second timeout. No Coordinator message has come, so the election starts again. In Normal,
// this node has heard nothing of the coordinator for too long, and asks the coordinator.
void TextbookTurn::timeout() {
  if (runs<AwaitingCoordinator>()) return election();
  if (!runs<Idle>() || coordinates()) return;
  const NodeId k = *state_.c;
  state_.procedure = Probing{call(k, AreYouThere{}, Bound::answer), k};
}

void TextbookTurn::called(const Letter& letter, const AreYouThere&) {
  answer(letter.from, letter.call, Here{});
}

// --- The application follows

void TextbookTurn::reorganize() {
  state_.s = Status::Reorganization;
  state_.procedure = Reorganizing{};
  // No message reports the other nodes' holdings, so the winner knows only its own.
  compute_definition({{config_.self, state_.safe.incarnation, holdings()}});
}

// The definition is durable before the application starts with it.
void TextbookTurn::install() {
  state_.safe.assigned = Assigned{*state_.d, *state_.g};
  save();
  start_application();
}

void TextbookTurn::on_event(const Stopped& event) {
  if (!has_stopped(event)) return;
  if (state_.leaving) return depart();
  if (runs<Ceasing>()) return reorganize();
  if (runs<Installing>()) install();
}

void TextbookTurn::on_event(const Reorganized& event) {
  if (!has_ended(Activity::Reorganizing, event.ticket, Activity::Idle)) return;
  state_.d = event.definition;
  announce();
  state_.procedure = Installing{};
  install();
}

void TextbookTurn::on_event(const Started& event) {
  if (!has_ended(Activity::Starting, event.ticket, Activity::Working)) return;
  if (!runs<Installing>()) return;  // an election has begun meanwhile
  state_.s = Status::Normal;
  state_.failed_hooks = 0;
  state_.procedure = Idle{};
  rearm_ = true;
}

void TextbookTurn::on_event(const HookFailed& event) {
  if (!has_failed(event)) return;
  if (++state_.failed_hooks >= too_many_failures) return leave(LeaveCause::stood_back);
  if (electing() && !runs<Reorganizing>()) return;
  state_.s = Status::Election;
  state_.procedure = BackingOff{};
  actions_.emplace_back(Arm{Timer::retry, state_.failed_hooks - 1});
}

void TextbookTurn::leave(LeaveCause cause) {
  state_.leaving = cause;
  end_procedure();
  cease(
      {cause == LeaveCause::asked ? StopReason::leaving : StopReason::standing_back, std::nullopt});
  if (state_.application == Activity::Idle) depart();
}

void TextbookTurn::depart() {
  state_.s = Status::Down;
  state_.left = true;
  actions_.emplace_back(Leave{*state_.leaving});
}

// --- Helpers

// True from Election until the Coordinator message has been sent or received.
bool TextbookTurn::electing() const {
  return runs<Asking>() || runs<AwaitingCoordinator>() || runs<Ceasing>() || runs<Reorganizing>();
}

void TextbookTurn::end_procedure() {
  if (runs<BackingOff>()) actions_.emplace_back(Disarm{Timer::retry});
  state_.procedure = Idle{};
}

void TextbookTurn::save() {
  TurnOf::save({state_.s, state_.c, std::nullopt, {}});
}

// The timer `coordinator` runs while a Coordinator message is awaited, and on a member that does
// nothing.
void TextbookTurn::set_coordinator_timer() {
  const bool member = runs<Idle>() && state_.s == Status::Normal && !coordinates();
  const bool wanted = (member || runs<AwaitingCoordinator>()) && !state_.leaving && !state_.left;
  set_timer(Timer::coordinator, state_.coordinator_armed, wanted, rearm_);
}

// --- The view for others

View view(const Config&, const State& state, const View& before) {
  View view;
  view.status = state.s;
  if (state.s == Status::Reorganization || state.s == Status::Normal) {
    view.coordinator = state.c;
    view.group = state.g;
  }
  if (state.s == Status::Normal) view.definition = digest_of(state.d, state.g, before);
  view.procedure = wait_of(state.procedure);
  view.application = state.application;
  return view;
}

bool awaits(const State& state, CallNumber call) {
  if (state.announced.contains(call)) return true;
  if (const auto* asking = std::get_if<Asking>(&state.procedure))
    return asking->asked.contains(call);
  const auto* probing = std::get_if<Probing>(&state.procedure);
  return probing && probing->call == call;
}

}  // namespace muster::textbook
