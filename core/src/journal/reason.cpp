#include <muster/journal/reason.hpp>

#include <muster/detail/values/kinds.hpp>
#include <muster/values/text.hpp>

#include <string_view>

namespace muster {
namespace {

template <class... Waits>
bool is_any(Wait procedure, Waits... waits) {
  return ((procedure == waits) || ...);
}

bool seeks_or_halts(Wait procedure) {
  return is_any(procedure, Wait::SeekingHigher, Wait::Ceasing, Wait::HaltingLower, Wait::HaltingAll,
                Wait::Inviting);
}

bool elects(Wait procedure) {
  return seeks_or_halts(procedure) || procedure == Wait::BackingOff;
}

bool coordinates(Wait procedure) {
  return is_any(procedure, Wait::Announcing, Wait::Reorganizing, Wait::MakingReady);
}

bool begins_election(Wait was, const Event& event, Wait is) {
  if (std::holds_alternative<Recovered>(event) || std::holds_alternative<Paused>(event))
    return true;
  if (std::holds_alternative<Differing>(event)) return is != was;
  if (coordinates(was)) return elects(is);
  return !elects(was) && (elects(is) || coordinates(is));
}

bool is_answer(const Event& event) {
  const auto* received = std::get_if<Received>(&event);
  return received && muster::is_answer(received->letter);
}

/// True if a node at work recovers because of an answer. Only a node that was left behind recovers
/// because of an answer.
bool is_left_behind(Status was, const Event& event, Status is) {
  const bool at_work = was == Status::Reorganization || was == Status::Normal;
  return at_work && is == Status::Down && is_answer(event);
}

/// True if the event ends the questions of an election that asks before it halts.
bool ends_a_question(const Event& event) {
  return is_answer(event) || std::holds_alternative<Unanswered>(event) ||
         std::holds_alternative<Failed>(event);
}

std::string name(NodeId node) {
  return "node " + std::to_string(node.value);
}

/// Text of another node, an application or an owner: made printable, and cut to less than a line.
std::string foreign(const std::string& text) {
  constexpr std::size_t most = 120;
  std::string printable = text.substr(0, most);
  for (char& c : printable) {
    if (c < ' ' || c > '~') c = '?';
  }
  return printable;
}

std::string milliseconds(Duration duration) {
  const auto tenths = (duration + std::chrono::microseconds(50)) / std::chrono::microseconds(100);
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " ms";
}

Reason of_letter(const Letter& letter) {
  const std::string from = name(letter.from);
  if (std::holds_alternative<Halt>(letter.message)) return {Trigger::halted, from + " halted it"};
  if (std::holds_alternative<invitation::Invitation>(letter.message))
    return {Trigger::invited, from + " invited it"};
  const auto* answer = std::get_if<Answer>(&letter.message);
  if (answer == nullptr) {
    const std::string sent = from + " sent " + std::string(alternative_name(letter.message));
    const bool told = std::holds_alternative<textbook::Coordinator>(letter.message);
    return {told ? Trigger::told : Trigger::other, sent};
  }
  if (const auto* refused = std::get_if<Refused>(&answer->result))
    return {Trigger::refused, from + " refused: " + foreign(refused->why)};
  if (std::holds_alternative<Normality>(answer->result))
    return {Trigger::found, from + " is up and answered AreYouNormal with No"};
  if (std::holds_alternative<invitation::Coordinating>(answer->result))
    return {Trigger::found, from + " was found by Check"};
  if (const auto* elsewhere = std::get_if<Elsewhere>(&answer->result))
    return {Trigger::left_behind,
            "coordinator " + std::to_string(letter.from.value) +
                (elsewhere->group ? " is in another group, " + to_text(*elsewhere->group)
                                  : std::string(" has left the group and is in none"))};
  return {Trigger::other, from + " answered"};
}

/// A higher node has ended two elections in a row (docs/decisions/left-behind.md).
Reason of_higher(const Event& event) {
  return {Trigger::left_behind, name(std::get<Received>(event).letter.from) +
                                    " ended two elections in a row, and no coordinator was heard "
                                    "between them"};
}

Reason of_silence(Wait waited, std::optional<NodeId> lost, const Unanswered& silent) {
  if (waited == Wait::Probing && lost) return {Trigger::failed, name(*lost) + " failed"};
  if (waited == Wait::Probing)
    return {Trigger::unanswered, "coordinator " + std::to_string(silent.by.value) +
                                     " was not heard and did not answer AreYouThere"};
  std::string what = name(silent.by) + " did not answer";
  if (waited == Wait::Checking) what += " AreYouNormal";
  if (waited == Wait::Announcing) what += " NewCoordinator";
  if (waited == Wait::MakingReady) what += " Ready";
  return {Trigger::unanswered, what};
}

std::string of_timer(Timer timer) {
  switch (timer) {
    case Timer::coordinator:
      return "no coordinator was heard";
    case Timer::check:
      return "Check found something";
    case Timer::retry:
      return "it backed off and started again";
    case Timer::merge:
      return "no coordinator above it moved first";
    case Timer::accepts:
      return "the time to wait for Accepts was over";
    case Timer::preempt:
      return "it was a member under a lower node for long enough";
    case Timer::settle:
      return "the time to wait for others to start was over";
    case Timer::rejoin:
      return "the nodes that differ have stopped";
    case Timer::right:
      return "the grant of a majority had expired";
  }
  return "a timer expired";
}

struct ReasonOfEvent {
  NodeId self;
  Wait waited;
  std::optional<NodeId> lost;

  Reason operator()(const Recovered&) const {
    return {Trigger::recovered, name(self) + " recovered"};
  }
  Reason operator()(const Received& received) const { return of_letter(received.letter); }
  Reason operator()(const Unanswered& silent) const { return of_silence(waited, lost, silent); }
  Reason operator()(const Failed& failed) const {
    return {Trigger::failed, name(failed.node) + " failed"};
  }
  Reason operator()(const Expired& expired) const {
    return {expired.timer == Timer::check ? Trigger::found : Trigger::timer,
            of_timer(expired.timer)};
  }
  Reason operator()(const Paused& paused) const {
    return {Trigger::paused, name(self) + " was paused for " + milliseconds(paused.gap)};
  }
  Reason operator()(const HookFailed& failed) const {
    return {Trigger::hook_failed,
            "its " + std::string(enumerator_name(failed.hook)) + " failed: " + foreign(failed.why)};
  }
  Reason operator()(const ElectionAsked& asked) const {
    return {Trigger::asked, "it was asked for: " + foreign(asked.why)};
  }
  Reason operator()(const Differing& others) const {
    if (others.differ.empty()) return {Trigger::other, "no other node differs any more"};
    std::string names;
    for (NodeId other : others.differ) names += (names.empty() ? "" : ", ") + name(other);
    return {Trigger::other,
            names + (others.differ.size() == 1 ? " differs from " : " differ from ") + name(self)};
  }
  template <class Other>
  Reason operator()(const Other&) const {
    return {Trigger::other, std::string(type_name<Other>())};
  }
};

}  // namespace

bool Reasons::take(NodeId self, const Event& event, const View& after) {
  const bool left_behind = is_left_behind(status_, event, after.status);
  bool begun = left_behind || begins_election(procedure_, event, after.procedure);
  const auto reason = [&] {
    const Reason of_event = std::visit(ReasonOfEvent{self, procedure_, lost_}, event);
    const bool was_told = of_event.trigger == Trigger::left_behind;
    return left_behind && !was_told ? of_higher(event) : of_event;
  };
  if (procedure_ == Wait::AskingFree && ends_a_question(event)) {
    begun = begun && asks_for_;
    if (begun) last_ = *asks_for_;
  } else if (begun) {
    last_ = reason();
  }
  if (procedure_ != Wait::AskingFree && after.procedure == Wait::AskingFree)
    asks_for_ = begun || elects(procedure_) ? std::nullopt : std::optional(reason());
  if (after.procedure != Wait::Probing)
    lost_.reset();
  else if (const auto* failed = std::get_if<Failed>(&event))
    lost_ = failed->node;
  status_ = after.status;
  procedure_ = after.procedure;
  return begun;
}

Reason Reasons::of(NodeId self, const Event& event) {
  return std::visit(ReasonOfEvent{self, Wait::Idle, std::nullopt}, event);
}

}  // namespace muster
