#include "apps/cluster/reason.hpp"

#include "apps/muster/text.hpp"

#include <muster/kinds.hpp>

#include <string_view>

namespace muster::apps {
namespace {

template <class... Words>
bool is_any(std::string_view procedure, Words... words) {
  return ((procedure == words) || ...);
}

bool seeks_or_halts(std::string_view procedure) {
  return is_any(procedure, "SeekingHigher", "Ceasing", "HaltingLower", "Inviting");
}

bool coordinates(std::string_view procedure) {
  return is_any(procedure, "Announcing", "Reorganizing", "MakingReady");
}

std::string name(NodeId node) {
  return "node " + std::to_string(node.value);
}

/// Text of another node or of an application: printable, and never more than a line.
std::string foreign(const std::string& text) {
  constexpr std::size_t most = 120;
  std::string printable = text.substr(0, most);
  for (char& c : printable) {
    if (c < ' ' || c > '~') c = '?';
  }
  return printable;
}

std::string of_answer(const Letter& letter) {
  const auto* answer = std::get_if<Answer>(&letter.message);
  if (answer == nullptr)
    return name(letter.from) + " sent " + std::string(alternative_name(letter.message));
  if (const auto* refused = std::get_if<Refused>(&answer->result)) {
    return name(letter.from) + " refused: " + foreign(refused->why);
  }
  if (std::holds_alternative<Normality>(answer->result)) {
    return name(letter.from) + " is up and answered AreYouNormal with No";
  }
  if (std::holds_alternative<invitation::Coordinating>(answer->result))
    return name(letter.from) + " was found by Check";
  return name(letter.from) + " answered";
}

std::string of_silence(const NodeSeen& seen, const Unanswered& silent) {
  const std::string& waited = seen.view.procedure;
  if (waited == "Probing") {
    return seen.lost ? name(*seen.lost) + " failed"
                     : "coordinator " + std::to_string(silent.by.value) +
                           " was not heard of and did not answer AreYouThere";
  }
  if (waited == "Checking") return name(silent.by) + " did not answer AreYouNormal";
  if (waited == "Announcing") return name(silent.by) + " did not answer NewCoordinator";
  if (waited == "MakingReady") return name(silent.by) + " did not answer Ready";
  return name(silent.by) + " did not answer";
}

std::string of_timer(Timer timer) {
  switch (timer) {
    case Timer::coordinator:
      return "no coordinator was heard of";
    case Timer::check:
      return "Check found something";
    case Timer::retry:
      return "it backed off and began anew";
    case Timer::merge:
      return "no coordinator above it moved first";
    case Timer::accepts:
      return "the time for Accepts was over";
  }
  return "a timer expired";
}

struct ReasonOfEvent {
  const NodeSeen& seen;
  const journal::Step& step;

  std::string operator()(const Recovered&) const { return name(step.stamp.node) + " recovered"; }
  std::string operator()(const Received& received) const { return of_answer(received.letter); }
  std::string operator()(const Unanswered& silent) const { return of_silence(seen, silent); }
  std::string operator()(const Failed& failed) const { return name(failed.node) + " failed"; }
  std::string operator()(const Expired& expired) const { return of_timer(expired.timer); }
  std::string operator()(const Paused& paused) const {
    return name(step.stamp.node) + " was paused for " + format_ms(paused.gap) + " ms";
  }
  std::string operator()(const HookFailed& failed) const {
    return "its " + std::string(enumerator_name(failed.hook)) + " failed: " + foreign(failed.why);
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return std::string(alternative_name(step.event));
  }
};

}  // namespace

bool begins_election(const View& before, const journal::Step& step) {
  if (std::holds_alternative<Recovered>(step.event) || std::holds_alternative<Paused>(step.event))
    return true;
  const std::string& was = before.procedure;
  const std::string& is = step.view.procedure;
  const bool begun = seeks_or_halts(is) || is == "BackingOff";
  if (coordinates(was)) return begun;
  const bool was_electing = seeks_or_halts(was) || was == "BackingOff";
  return !was_electing && (begun || coordinates(is));
}

std::string reason_of(const NodeSeen& seen, const journal::Step& step) {
  if (!begins_election(seen.view, step)) return seen.reason;
  return std::visit(ReasonOfEvent{seen, step}, step.event);
}

std::optional<NodeId> lost_coordinator(const NodeSeen& seen, const journal::Step& step) {
  if (step.view.procedure != "Probing") return std::nullopt;
  if (const auto* failed = std::get_if<Failed>(&step.event)) return failed->node;
  return seen.lost;
}

}  // namespace muster::apps
