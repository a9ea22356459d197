#include "bully_turn.hpp"

#include <muster/values/ensure.hpp>
#include <muster/values/hash.hpp>

#include <algorithm>
#include <string_view>

namespace muster::bully {

// The end of a right to work is handled before the event. If the machine slept, the right may have
// ended long ago, and the node that gets the event no longer works. Riders (ByQuorum) and the
// action `Right` are written last, because they describe the node after the step.
Actions BullyTurn::take(const Event& event) {
  if (state_.left) return {};
  end_right(event);
  if (state_.left) return std::move(actions_);
  const std::optional<Moment> right = options_.right();
  context_ = context_of(event, context_.now);
  options_.step_begins();
  std::visit([this](const auto& one) { on_event(one); }, event);
  if (safe_before_) keep_whole_state();
  set_timers();
  MUSTER_ENSURE(!works_in_group() || (state_.c && state_.g));
  MUSTER_ENSURE(state_.s != Status::Normal || state_.d);
  MUSTER_ENSURE(state_.safe.counter_limit >= state_.counter || state_.s == Status::Down ||
                state_.s == Status::Election);
  write_riders(right);
  options_.step_ends();
  return std::move(actions_);
}

// --- Events

void BullyTurn::on_event(const Recovered& event) {
  begin_life(event.safe);
  if (safe_before_) safe_before_ = event.safe;
  if (!safe_counter()) state_.counter = 0;
  if (const auto h = event.safe.vector.h; h && !h_undefined_at_recovery())
    state_.h = ElectionId{*h, {}, 0};
  recovery();
}

void BullyTurn::on_event(const Received& event) {
  options_.letter_came();
  take_letter(event);
  heard(event.letter.from);
}

void BullyTurn::take_letter(const Received& event) {
  const Letter& letter = event.letter;
  if (state_.leaving && !leaving_answers()) return;
  const Incarnation seen = state_.seen[letter.from];
  if (repairs_.tags && letter.incarnation < seen) return;  // the sender's life is over
  if (letter.incarnation > seen) new_life_of(letter.from);
  note_life(event);
  state_.asked_in_vain.erase(letter.from);
  if (runs<Outvoted>()) return refuse_to_take_part(letter);
  std::visit([&](const auto& message) { called(letter, message); }, letter.message);
  const bool question = std::holds_alternative<AreYouThere>(letter.message) ||
                        std::holds_alternative<AreYouNormal>(letter.message);
  if (question && works_in_group() && state_.c->candidate == letter.from) {
    rearm_coordinator_ = true;
    coordinator_is_heard();
  }
}

void BullyTurn::called(const Letter& letter, const Answer& answer) {
  returned(letter.from, letter.call, &answer.result);
}

void BullyTurn::on_event(const Unanswered& event) {
  if (context_.proof) options_.has_died(event.by);
  returned(event.by, event.call, nullptr);
}

// Departs from the paper: proof that a life is over has the effect of Timeout(i) or Check(i) at
// once. The paper has no such proof; its nodes wait for T instead.
//
// The proof ends one life, and not the node: a new life may be up already, and may be in a group.
// So the proof never replaces a question to the node, and Timeout(i) still asks (bully/findings.md,
// "The end of a life"; docs/findings.md, V5).
void BullyTurn::on_event(const Failed& event) {
  const auto [k, life] = event;
  options_.has_died(k);
  owe_nothing(k);
  if (!repairs_.proofs || state_.leaving) return;
  if (runs<HaltingLower>() || runs<HaltingAll>()) {
    std::erase_if(state_.up, [&](const Member& j) { return j.node == k && j.incarnation <= life; });
    return;
  }
  if (works_in_group() && coordinates()) {
    const Member* lost = member(k);
    if (lost && lost->incarnation <= life) lost_member();
    return;
  }
  const auto is_over = [&](const std::optional<ElectionId>& election) {
    return election && election->candidate == k && election->incarnation <= life;
  };
  const bool awaited = (works_in_group() && is_over(state_.c)) ||
                       (state_.s == Status::Election && is_over(state_.h)) ||
                       state_.answered_by == k;
  if (!awaited || !(runs<Idle>() || runs<Probing>())) return;
  if (failed_spares_no_question())
    timeout();
  else
    election({k});
}

void BullyTurn::on_event(const Expired& event) {
  switch (event.timer) {
    case Timer::check:
      state_.check_armed = false;
      if (questions())
        ask_members();
      else
        check();
      break;
    case Timer::coordinator:
      state_.coordinator_armed = false;
      if (!state_.leaving) timeout();
      break;
    case Timer::retry:
      if (!runs<BackingOff>() && !awaits_majority()) break;
      state_.procedure = Idle{};
      election();
      break;
    case Timer::rejoin:
      may_rejoin();
      break;
    case Timer::preempt:
    case Timer::settle:
    case Timer::right:
      expired(event.timer);
      break;
    case Timer::merge:
    case Timer::accepts:
      break;  // of the Invitation
  }
}

// Assumption 9 says that a node that pauses has failed. So this node recovers as by Recovery(i), in
// the same life. A node that is leaving becomes Down as well, because the others may have a new
// coordinator by now. Then it goes on leaving.
void BullyTurn::on_event(const Paused&) {
  if (options_.judge_pause() == Pausing::leave) {
    leave(LeaveCause::unsteady);
    return fail();
  }
  recover(StopReason::paused);
}

void BullyTurn::on_event(const Leaving&) {
  leave(LeaveCause::asked);
}

// Nobody has failed, but the reports on which the task was based are out of date. A coordinator
// holds a new election. A member holds no election, because its Election(i) would end at the first
// higher node that answers. The member recovers instead, and its coordinator's next Check(i) finds
// it.
void BullyTurn::on_event(const ElectionAsked&) {
  if (state_.leaving || !works_in_group()) return;
  if (coordinates()) {
    if (runs<Idle>() || runs<Checking>()) election();
    if (runs<MakingReady>() && state_.application == Activity::Working) start_over(true);
  } else if (state_.s == Status::Normal) {
    recover(StopReason::recovering);
  }
}

// --- Helpers

bool BullyTurn::coordinates() const {
  return bully::coordinates(state_, config_.self);
}

bool BullyTurn::is_normal_for(NodeId j, GroupNumber group) const {
  if (state_.s != Status::Normal) return false;
  return !repairs_.normal_for_me || (state_.c->candidate == j && state_.g == group);
}

bool BullyTurn::waits_for_own_stop() const {
  return !repairs_.stop_beside_halts && state_.application != Activity::Idle;
}

Members BullyTurn::all_members() const {
  Members members = state_.up;
  members.push_back({config_.self, state_.safe.incarnation, holdings()});
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.node < b.node; });
  return members;
}

bool BullyTurn::works_in_group() const {
  return bully::works_in_group(state_);
}

void BullyTurn::new_life_of(NodeId node) {
  owe_nothing(node);
  options_.new_life_of(node);
}

// The paper compares S(i).h or S(i).c with the node j. With tags the whole election is compared, so
// that a late letter of an earlier election of j does not match (bully/findings.md, "Late letters
// and lives").
bool BullyTurn::elects(const std::optional<ElectionId>& kept, const ElectionId& named) const {
  if (!kept) return false;
  return same_election() ? *kept == named : kept->candidate == named.candidate;
}

bool BullyTurn::asks(const Calls& calls, NodeId node) {
  return std::any_of(calls.begin(), calls.end(),
                     [&](const auto& asked) { return asked.second == node; });
}

// The questions of the procedure that runs, or null if it asks none. These procedures ask S(i).Up
// while they run, because their own calls can take long.
Calls* BullyTurn::questions() {
  if (auto* wait = std::get_if<Announcing>(&state_.procedure)) return &wait->questions;
  if (auto* wait = std::get_if<Reorganizing>(&state_.procedure)) return &wait->questions;
  if (auto* wait = std::get_if<MakingReady>(&state_.procedure)) return &wait->questions;
  return nullptr;
}

void BullyTurn::end_procedure() {
  end_wait_of_option();
  if (runs<BackingOff>()) actions_.emplace_back(Disarm{Timer::retry});
  state_.procedure = Idle{};
}

// The fields S(i).c, d, g and Up have a meaning in Reorganization and Normal only.
void BullyTurn::forget_group() {
  options_.leaves_group();
  state_.c.reset();
  state_.d.reset();
  state_.g.reset();
  state_.up.clear();
  state_.left_to_higher = false;
}

// In the paper a node that refuses NewCoordinator or Ready answers as if it had accepted. The
// caller then goes on with a member that it does not have (bully/findings.md, "A quick restart").
void BullyTurn::refuse(NodeId to, CallNumber call, Bound until, std::string why) {
  if (repairs_.report_refusals)
    answer(to, call, Refused{std::move(why)});
  else if (until == Bound::stopped)
    answer(to, call, Joined{holdings()});
  else
    answer(to, call, Installed{});
}

void BullyTurn::save() {
  TurnOf::save({state_.s, state_.c ? std::optional(state_.c->candidate) : std::nullopt,
                state_.h ? std::optional(state_.h->candidate) : std::nullopt, up()});
}

// The definition is durable before the application starts with it, and before the others are told
// that it is installed.
void BullyTurn::install() {
  MUSTER_ENSURE(state_.d && state_.g);
  Assigned assigned{*state_.d, *state_.g};
  if (state_.safe.assigned == assigned) return;
  state_.safe.assigned = std::move(assigned);
  save();
}

// As in the paper's text, the whole of S(i) is kept in safe storage: one commit, before any other
// action of this step.
void BullyTurn::keep_whole_state() {
  std::erase_if(actions_,
                [](const Action& action) { return std::holds_alternative<Save>(action); });
  save();
  Action whole = std::move(actions_.back());
  actions_.pop_back();
  if (state_.safe != *safe_before_) actions_.insert(actions_.begin(), std::move(whole));
}

// The timer `coordinator` starts Timeout(i). This timer runs in every status while no procedure of
// this node runs, except on a Normal coordinator. The timer `check` starts Check(i) on a Normal
// coordinator, and the questions to S(i).Up while longer calls are out.
void BullyTurn::set_timers() {
  const bool here = !state_.leaving && !state_.left;
  const bool normal_coordinator = state_.s == Status::Normal && coordinates();
  set_timer(Timer::check, state_.check_armed, here && (normal_coordinator || questions()),
            rearm_check_);
  set_timer(Timer::coordinator, state_.coordinator_armed,
            here && runs<Idle>() && !normal_coordinator && timeout_unless_normal(),
            rearm_coordinator_);
  set_timers_of_options();
}

}  // namespace muster::bully
