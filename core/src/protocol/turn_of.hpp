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

/// After this many Checks in a row that found nothing, the level of `retry` is reset.
inline constexpr unsigned quiet_enough = 10;

/// The part of a step that all protocols share: calls and answers, the application's hooks, safe
/// storage and timers. A protocol's own Turn derives from it. An object lives for one step.
template <class State>
class TurnOf {
 protected:
  /// At this level `retry` no longer doubles: T, 2 T, 4 T, 8 T.
  static constexpr unsigned highest_level = 4;
  /// A node stands back after this many failed hooks in a row.
  static constexpr unsigned too_many_failures = 3;
  /// The number of failed hooks in a group of several nodes, in which each failure costs the others
  /// their work.
  static constexpr unsigned too_many_in_company = 2;
  /// Each save sets the counter's limit this far above the counter, so that few saves are needed.
  static constexpr std::uint64_t counters_ahead = 16;

  /// `side_by_side`: calls to several nodes go out together. Otherwise the calls go out one by one,
  /// as in the paper.
  TurnOf(const Config& config, State& state, bool side_by_side)
      : config_(config), state_(state), side_by_side_(side_by_side) {}

  /// A new life keeps only the contents of safe storage. The new life counts groups from the stored
  /// limit, which is never below a number that was used.
  void begin_life(const SafeState& safe) {
    state_ = State{};
    state_.safe = safe;
    state_.seen = safe.seen;
    state_.instances = safe.instances;
    state_.counter = safe.counter_limit;
  }

  /// Remembers the life that has sent this letter, unless this node has met a later life.
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

  /// Calls nodes from the queue, each with the letter that `letter_to` returns for it. If calls go
  /// out side by side, it calls all nodes; otherwise it calls the next node when no call is
  /// running.
  template <class Queue, std::invocable<NodeId> LetterTo>
  void call_next(std::map<CallNumber, NodeId>& out, Queue& queue, LetterTo letter_to, Bound bound) {
    while (!queue.empty() && (side_by_side_ || out.empty())) {
      const NodeId j = take_first(queue);
      out.emplace(call(j, letter_to(j), bound), j);
    }
  }

  /// Calls nodes from the queue, all with the same letter.
  template <class Queue>
  void call_next(std::map<CallNumber, NodeId>& out, Queue& queue, const Message& letter,
                 Bound bound) {
    call_next(
        out, queue, [&](NodeId) { return letter; }, bound);
  }

  void answer(NodeId to, CallNumber call, Result result) {
    send(to, call, Answer{std::move(result)}, std::nullopt);
  }

  /// True if that call to that node was out. It is taken out.
  static bool take_out(std::map<CallNumber, NodeId>& out, NodeId by, CallNumber call) {
    const auto at = out.find(call);
    if (at == out.end() || at->second != by) return false;
    out.erase(at);
    return true;
  }

  /// The result as the expected kind of answer; null if there is no answer, or one of another kind,
  /// which no node that runs this protocol sends.
  template <class Expected>
  [[nodiscard]] static const Expected* as(const Result* result) {
    return result ? std::get_if<Expected>(result) : nullptr;
  }

  /// The node in S(i).Up, or null if it is not there.
  [[nodiscard]] Member* member(NodeId node) {
    const auto at = std::find_if(state_.up.begin(), state_.up.end(),
                                 [&](const Member& j) { return j.node == node; });
    return at == state_.up.end() ? nullptr : &*at;
  }

  [[nodiscard]] bool owes(NodeId to, CallNumber call) const {
    return std::any_of(state_.owed.begin(), state_.owed.end(),
                       [&](const auto& owed) { return owed.to == to && owed.call == call; });
  }

  /// Forgets the answers that are owed to a life that is over. A later life may use the same call
  /// numbers, and would take such an answer for that of its own call. The letters of the later life
  /// are read only after the end of the former life is known.
  void owe_nothing(NodeId to) {
    std::erase_if(state_.owed, [&](const auto& owed) { return owed.to == to; });
  }

  // --- The application: one hook at a time

  /// Makes the application cease. `stop` is called once for each start that began, and once in a
  /// new life.
  void cease(StopCause cause) {
    const Activity was = state_.application;
    if (was == Activity::Idle || was == Activity::Stopping) return;
    state_.application = Activity::Stopping;
    actions_.emplace_back(Stop{next_ticket(), cause, was != Activity::Reorganizing});
  }

  /// True if this event tells that the application has stopped. Its report is kept.
  bool has_stopped(const Stopped& event) {
    if (!has_ended(Activity::Stopping, event.ticket, Activity::Idle)) return false;
    if (event.report) state_.report = *event.report;
    return true;
  }

  /// The holdings of this stopped node. Group and definition come from safe storage, because the
  /// node may have been assigned a task without ever starting it.
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

  /// True if this event tells that `start` or `reorganize` has failed.
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

  /// A hook that succeeds while the node is alone in its group does not show that hooks succeed in
  /// a group of several nodes.
  void forget_failures(bool in_company) {
    state_.failed_hooks = 0;
    if (in_company) state_.failed_in_company = 0;
  }

  /// True if this event tells that the hook that runs has ended. The result of an abandoned hook is
  /// ignored.
  bool has_ended(Activity hook, Ticket ticket, Activity then) {
    if (state_.application != hook || ticket != state_.ticket) return false;
    state_.application = then;
    return true;
  }

  // --- Others that differ

  /// True if more of the nodes that are alive differ from this one than agree with it, not counting
  /// this node itself.
  [[nodiscard]] bool outvoted() const { return state_.met.differ.size() > state_.met.agree.size(); }

  /// Answers a call of any node with a refusal. If this node's application has ceased, the caller
  /// treats the refusal as silence. Otherwise the caller waits.
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

  /// S(i).Up, without its members' holdings.
  [[nodiscard]] NodeSet up() const {
    NodeSet nodes;
    for (const Member& j : state_.up) nodes.insert(j.node);
    return nodes;
  }

  /// Timers of options are armed with their length in milliseconds, rounded up.
  void arm(Timer timer, Duration length) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(length);
    actions_.emplace_back(Arm{timer, static_cast<unsigned>(milliseconds.count())});
  }

  void set_timer(Timer timer, bool& armed, bool wanted, bool again) {
    if (wanted && (!armed || again))
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
