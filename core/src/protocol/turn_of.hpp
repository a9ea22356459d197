#pragma once

#include <muster/protocol/step.hpp>
#include <muster/values/hash.hpp>

#include <algorithm>
#include <concepts>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace muster {

/// So many Checks in a row that found nothing let the level of `retry` fall back.
inline constexpr unsigned quiet_enough = 10;

/// What a turn of every protocol needs, whatever it elects: calls and their answers, the hooks of
/// the application, safe storage and timers. What differs between protocols is in their own Turns.
template <class State>
class TurnOf {
 protected:
  /// The level at which `retry` no longer doubles: T, 2 T, 4 T, 8 T.
  static constexpr unsigned highest_level = 4;
  /// So many hooks that fail in a row make a node stand back.
  static constexpr unsigned too_many_failures = 3;
  /// ... that fail in a group of several: each of them costs the others their work.
  static constexpr unsigned too_many_in_company = 2;
  /// Every save lifts the counter limit this far above the counter, so that few saves are needed.
  static constexpr std::uint64_t counters_ahead = 16;

  /// `side_by_side`: calls are; otherwise, as in the paper, they go one by one.
  TurnOf(const Config& config, State& state, bool side_by_side)
      : config_(config), state_(state), side_by_side_(side_by_side) {}

  /// Of a former life there is what was in safe storage.
  void begin_life(const SafeState& safe) {
    state_ = State{};
    state_.safe = safe;
    state_.seen = safe.seen;
    state_.instances = safe.instances;
    state_.counter = safe.counter_limit;
  }

  /// A life of another node is met, if it is none that is over.
  void note_life(const Received& event) {
    const Letter& letter = event.letter;
    Incarnation& seen = state_.seen[letter.from];
    if (letter.incarnation < seen) return;
    if (letter.incarnation > seen) state_.instances.erase(letter.from);
    seen = letter.incarnation;
    if (event.instance != Instance{}) state_.instances[letter.from] = event.instance;
  }

  // --- Calls and answers

  template <class Wait>
  [[nodiscard]] bool runs() const {
    return std::holds_alternative<Wait>(state_.procedure);
  }

  CallNumber call(NodeId to, Message message, Bound bound) {
    const CallNumber number{++state_.calls.value};
    send(to, number, std::move(message), bound);
    return number;
  }

  /// Calls those in the queue with the letter that `letter_to` gives for each: all of them now, or
  /// the first where none is out.
  template <class Queue, std::invocable<NodeId> LetterTo>
  void call_next(std::map<CallNumber, NodeId>& out, Queue& queue, LetterTo letter_to, Bound bound) {
    while (!queue.empty() && (side_by_side_ || out.empty())) {
      const NodeId j = take_first(queue);
      out.emplace(call(j, letter_to(j), bound), j);
    }
  }

  /// The same, with one letter for all.
  template <class Queue>
  void call_next(std::map<CallNumber, NodeId>& out, Queue& queue, const Message& letter,
                 Bound bound) {
    call_next(
        out, queue, [&](NodeId) { return letter; }, bound);
  }

  void answer(NodeId to, CallNumber call, Result result) {
    send(to, call, Answer{std::move(result)}, std::nullopt);
  }

  /// True when that call of that node was among those that are out; it no longer is.
  static bool take_out(std::map<CallNumber, NodeId>& out, NodeId by, CallNumber call) {
    const auto at = out.find(call);
    if (at == out.end() || at->second != by) return false;
    out.erase(at);
    return true;
  }

  /// The result as the answer that the call expects; null where there is none. An answer of another
  /// kind is none: it cannot come from a node that runs this protocol.
  template <class Expected>
  [[nodiscard]] static const Expected* as(const Result* result) {
    return result ? std::get_if<Expected>(result) : nullptr;
  }

  /// That node in S(i).Up; null where it is not.
  [[nodiscard]] Member* member(NodeId node) {
    const auto at = std::find_if(state_.up.begin(), state_.up.end(),
                                 [&](const Member& j) { return j.node == node; });
    return at == state_.up.end() ? nullptr : &*at;
  }

  [[nodiscard]] bool owes(NodeId to, CallNumber call) const {
    return std::any_of(state_.owed.begin(), state_.owed.end(),
                       [&](const auto& owed) { return owed.to == to && owed.call == call; });
  }

  /// Who is owed an answer is the life that called: to the next one it would answer another call of
  /// the same number. That life's letters come only after the end of this one is known.
  void owe_nothing(NodeId to) {
    std::erase_if(state_.owed, [&](const auto& owed) { return owed.to == to; });
  }

  // --- The application: one hook at a time

  /// `stop` is called once for each start that began, and once in a new life.
  void cease(StopCause cause) {
    const Activity was = state_.application;
    if (was == Activity::Idle || was == Activity::Stopping) return;
    state_.application = Activity::Stopping;
    actions_.emplace_back(Stop{next_ticket(), cause, was != Activity::Reorganizing});
  }

  /// True when the application has stopped now, and has said what it holds.
  bool has_stopped(const Stopped& event) {
    if (!has_ended(Activity::Stopping, event.ticket, Activity::Idle)) return false;
    if (event.report) state_.report = *event.report;
    return true;
  }

  /// What this stopped node holds. Group and definition are those in safe storage: it may have been
  /// assigned one without ever starting.
  [[nodiscard]] Holdings holdings() const {
    const auto& assigned = state_.safe.assigned;
    if (!assigned) return {state_.report, std::nullopt, std::nullopt, true};
    return {state_.report, assigned->group, digest(assigned->definition.data), false};
  }

  void compute_definition(Members members) {
    state_.application = Activity::Reorganizing;
    actions_.emplace_back(Reorganize{next_ticket(), *state_.g, std::move(members)});
  }

  void start_application() {
    state_.application = Activity::Starting;
    actions_.emplace_back(Start{next_ticket(), *state_.d, *state_.g});
  }

  /// True when `start` or `reorganize` has failed now.
  bool has_failed(const HookFailed& event) {
    return has_ended(Activity::Starting, event.ticket, Activity::Owing) ||
           has_ended(Activity::Reorganizing, event.ticket, Activity::Idle);
  }

  void count_failure(bool in_company) {
    ++state_.failed_hooks;
    if (in_company) ++state_.failed_in_company;
  }

  [[nodiscard]] bool has_failed_too_often() const {
    return state_.failed_hooks >= too_many_failures ||
           state_.failed_in_company >= too_many_in_company;
  }

  /// Success alone says nothing of a group of several.
  void forget_failures(bool in_company) {
    state_.failed_hooks = 0;
    if (in_company) state_.failed_in_company = 0;
  }

  /// True when this hook has ended now: what an abandoned one says means nothing.
  bool has_ended(Activity hook, Ticket ticket, Activity then) {
    if (state_.application != hook || ticket != state_.ticket) return false;
    state_.application = then;
    return true;
  }

  // --- Others that differ

  /// No fewer of the nodes that are alive differ from this one than agree with it, itself included.
  [[nodiscard]] bool outvoted() const { return state_.met.differ.size() > state_.met.agree.size(); }

  /// To whoever calls, a node that takes no part is as one that does not answer, once its
  /// application has ceased.
  void refuse_to_take_part(const Letter& letter) {
    if (is_answer(letter)) return;
    const AtWork at_work{state_.application != Activity::Idle};
    answer(letter.from, letter.call, Refused{"it is outvoted", at_work});
  }

  // --- Safe storage and timers

  void save(StateVector vector) {
    SafeState& safe = state_.safe;
    safe.counter_limit = std::max(safe.counter_limit, state_.counter + counters_ahead);
    safe.vector = std::move(vector);
    safe.seen = state_.seen;
    safe.instances = state_.instances;
    actions_.emplace_back(Save{safe});
  }

  /// S(i).Up without what its members hold.
  [[nodiscard]] NodeSet up() const {
    NodeSet nodes;
    for (const Member& j : state_.up) nodes.insert(j.node);
    return nodes;
  }

  /// Timers of options are armed with their length.
  void arm(Timer timer, Duration length) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(length);
    actions_.emplace_back(Arm{timer, static_cast<unsigned>(milliseconds.count())});
  }

  void set_timer(Timer timer, bool& armed, bool wanted, bool anew) {
    if (wanted && (!armed || anew))
      actions_.emplace_back(Arm{timer, 0});
    else if (!wanted && armed)
      actions_.emplace_back(Disarm{timer});
    armed = wanted;
  }

  const Config& config_;
  State& state_;
  const bool side_by_side_;
  Actions actions_;

 private:
  static NodeId take_first(NodeSet& queue) {
    const NodeId first = *queue.begin();
    queue.erase(first);
    return first;
  }
  static NodeId take_first(std::vector<NodeId>& queue) {
    const NodeId first = queue.front();
    queue.erase(queue.begin());
    return first;
  }

  void send(NodeId to, CallNumber call, Message message, std::optional<Bound> bound) {
    actions_.emplace_back(
        Send{{config_.self, state_.safe.incarnation, to, call, std::move(message)}, bound});
  }

  Ticket next_ticket() { return state_.ticket = Ticket{state_.ticket.value + 1}; }
};

}  // namespace muster
