#include "turn_with_options.hpp"

#include <algorithm>

namespace muster::bully {

// --- A settling start
// -------------------------------------------------------------------------------

// Recovery(i) goes on with Election(i). With `settle` the first life waits for the others before
// it; where a higher node joins, every life waits to be found by a Normal coordinator's Check, and
// Timeout(i) calls Election(i) if none comes.
void TurnWithOptions::begin() {
  const bool first_start = !state_.safe.assigned && config_.nodes.size() > 1;
  if (config_.options.settle > Duration::zero() && first_start) {
    Settling wait;
    for (NodeId j : config_.nodes) {
      if (j == config_.self) continue;
      wait.asked.emplace(call(j, AreYouThere{}, Bound::answer), j);
      wait.not_heard.insert(j);
    }
    state_.procedure = std::move(wait);
    arm(Timer::settle, config_.options.settle);
  } else if (!joins()) {
    election({});
  }
}

void TurnWithOptions::settled() {
  end_procedure();
  if (!joins()) election({});
}

// All of the others are up: there is nobody to wait for.
void TurnWithOptions::heard(NodeId node) {
  auto* wait = std::get_if<Settling>(&state_.procedure);
  if (!wait) return;
  wait->not_heard.erase(node);
  if (wait->not_heard.empty()) settled();
}

// --- A higher node joins
// ----------------------------------------------------------------------------

// Only a Normal coordinator asks AreYouNormal: there is a group, into which it takes this node.
void TurnWithOptions::found(NodeId coordinator) {
  if (runs<Settling>()) settled();
  if (!joins() || works_in_group() || !runs<Idle>() || config_.self < coordinator) return;
  state_.by_options.found_by = coordinator;
  rearm_coordinator_ = true;
}

void TurnWithOptions::new_life_of(NodeId node) {
  TurnWithCalm::new_life_of(node);
  if (state_.by_options.found_by == node) state_.by_options.found_by.reset();
}

void TurnWithOptions::election(NodeSet asked_in_vain) {
  state_.by_options.found_by.reset();
  Turn::election(std::move(asked_in_vain));
}

void TurnWithOptions::stop(StopCause cause) {
  if (cause.reason == StopReason::halted && state_.by_options.found_by != cause.by)
    state_.by_options.found_by.reset();
  Turn::stop(cause);
}

void TurnWithOptions::fail() {
  Turn::fail();
  state_.by_options.found_by.reset();
}

void TurnWithOptions::called(const Letter& letter, const AreYouThere& call) {
  const NodeId j = letter.from;
  if (stands_back_for(j)) {
    rearm_coordinator_ = true;
    return answer(j, letter.call, Refused{"stands back"});
  }
  if (is_wrongly_taken_for_coordinator_by(j))
    return answer(j, letter.call, Refused{"does not coordinate"});
  Turn::called(letter, call);
}

void TurnWithOptions::called(const Letter& letter, const AreYouNormal& call) {
  Turn::called(letter, call);
  found(letter.from);
}

void TurnWithOptions::called(const Letter& letter, const NewCoordinator& call) {
  const std::optional<ElectionId> before = state_.c;
  Turn::called(letter, call);
  const bool accepted = state_.c != before;
  if (joins() && accepted && letter.from < config_.self) state_.by_options.found_by = letter.from;
}

// Whether this higher node leaves an election to the candidate that asks: the coordinator that
// takes it in, or has, as long as this node holds no election of its own, and nobody else halts it.
bool TurnWithOptions::stands_back_for(NodeId candidate) const {
  return joins() && state_.by_options.found_by == candidate && (runs<Idle>() || runs<Probing>());
}

// A higher node asks AreYouThere of its coordinator, and of its members. In the paper a coordinator
// that gave way did so to a node above all its members; here its members might be above it, and
// wait for it for ever.
bool TurnWithOptions::is_wrongly_taken_for_coordinator_by(NodeId node) const {
  const bool is_member = state_.c && state_.c->candidate == node;
  return joins() && config_.self < node && !coordinates() && !is_member;
}

void TurnWithOptions::question_returned(NodeId by, const Result* result) {
  if (joins() && as<Refused>(result)) return;
  TurnWithCalm::question_returned(by, result);
}

// A lower coordinator that failed and recovered answers, and gives way: it is none any more.
void TurnWithOptions::probe_returned(NodeId by, const Result* result) {
  const bool recovered = joins() && state_.c && state_.c->incarnation < state_.seen[by];
  Turn::probe_returned(by, recovered ? nullptr : result);
}

// Who has been a member of a lower node for long enough holds the election that it did not hold
// when it came.
void TurnWithOptions::set_preempt_timer() {
  const bool wanted = config_.options.preempt == Preempt::after && !state_.leaving &&
                      state_.s == Status::Normal && state_.c->candidate < config_.self;
  bool& armed = state_.by_options.preempt_armed;
  if (wanted && !armed)
    arm(Timer::preempt, config_.options.preempt_after);
  else if (!wanted && armed)
    actions_.emplace_back(Disarm{Timer::preempt});
  armed = wanted;
}

// --- Its Halts: no order has every other candidate halted before those whom it may have appointed.
// Rounds of lives have, in which whoever was a candidate in the first is none in the last. Silence
// in phase A spares nobody a Halt: it may be a member (6.19).
// -----------------------------------------------------------------------------------------------

void TurnWithOptions::halt_next(NodeId last) {
  joins() ? halt_at_once() : Turn::halt_next(last);
}

bool TurnWithOptions::halts(NodeId j) const {
  return Turn::halts(j) || (joins() && j != config_.self);
}

bool TurnWithOptions::halts_once() const {
  return !joins() && Turn::halts_once();
}

bool TurnWithOptions::rounds_by_node() const {
  return !joins() && Turn::rounds_by_node();
}

// --- Resume all
// -------------------------------------------------------------------------------------

bool TurnWithOptions::only_installs() const {
  return config_.options.resume == Resume::all && !state_.by_options.installed;
}

void TurnWithOptions::ready(NodeId coordinator, CallNumber call) {
  if (!only_installs()) return Turn::ready(coordinator, call);
  install();
  state_.by_options.installed = true;
  answer(coordinator, call, Installed{});
}

void TurnWithOptions::own_ready() {
  if (!only_installs()) return Turn::own_ready();
  install();
  normal_when_all_ready();
}

void TurnWithOptions::all_ready() {
  if (!only_installs()) return Turn::all_ready();
  state_.by_options.installed = true;
  make_ready();
}

// --- Events and words
// -------------------------------------------------------------------------------

void TurnWithOptions::happened(const Received& event) {
  Turn::happened(event);
  heard(event.letter.from);
}

void TurnWithOptions::happened(const Expired& event) {
  if (event.timer == Timer::preempt) {
    state_.by_options.preempt_armed = false;
    if (state_.s == Status::Normal && (runs<Idle>() || runs<Probing>())) election({});
  } else if (event.timer == Timer::settle && runs<Settling>()) {
    state_.procedure = Idle{};
    settled();
  } else {
    Turn::happened(event);
  }
}

void TurnWithOptions::returned(NodeId by, CallNumber call, const Result* result) {
  if (auto* wait = std::get_if<Settling>(&state_.procedure))
    take_out(wait->asked, by, call);
  else
    TurnWithCalm::returned(by, call, result);
}

void TurnWithOptions::end_procedure() {
  if (runs<Settling>()) actions_.emplace_back(Disarm{Timer::settle});
  Turn::end_procedure();
}

void TurnWithOptions::forget_group() {
  Turn::forget_group();
  state_.by_options.installed = false;
}

void TurnWithOptions::set_timers() {
  Turn::set_timers();
  set_preempt_timer();
}

}  // namespace muster::bully
