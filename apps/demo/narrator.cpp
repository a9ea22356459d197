#include "apps/demo/narrator.hpp"

#include "apps/base/text.hpp"

#include <muster/values/text.hpp>

#include <algorithm>
#include <fstream>

namespace muster::apps {
namespace {

std::string name(NodeId node) {
  return "node " + std::to_string(node.value);
}

NodeSet without(NodeSet nodes, NodeId node) {
  nodes.erase(node);
  return nodes;
}

/// The last line that a process wrote, which says why it ended.
std::string last_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);) last = line;
  return last;
}

}  // namespace

void Narrator::line(const journal::Line& line) {
  if (const auto* step = std::get_if<journal::Step>(&line)) tell(*step);
  if (const auto* fault = std::get_if<journal::Fault>(&line)) tell(*fault);
  if (const auto* ended = std::get_if<journal::Ended>(&line)) tell(*ended);
}

void Narrator::tell(const journal::Step& step) {
  const NodeId node = step.stamp.node;
  const NodeSeen& seen = cluster_.watch().node(node);
  if (const auto* recovered = std::get_if<Recovered>(&step.event)) {
    const auto& assigned = recovered->safe.assigned;
    screen_.say(step.stamp.t, name(node) + " recovers, life " +
                                  std::to_string(step.stamp.incarnation.value) +
                                  (assigned ? ": it was last in group " + to_text(assigned->group)
                                            : ": its safe storage is empty"));
  }
  if (const auto* paused = std::get_if<Paused>(&step.event)) {
    screen_.say(step.stamp.t,
                name(node) + " was paused for " + format_ms(paused->gap) +
                    " ms, which counts as a failure (assumption 9): it stops and recovers");
  }
  if (const auto* failed = std::get_if<HookFailed>(&step.event)) {
    screen_.say(step.stamp.t,
                name(node) + ": " + std::string(enumerator_name(failed->hook)) + " failed");
  }
  tell_election(step, seen);
  procedures_[node] = step.view.procedure;
}

namespace {

bool becomes_a_group_of_its_own(const journal::Step& step) {
  return std::any_of(step.actions.begin(), step.actions.end(), [](const Action& action) {
    const auto* stop = std::get_if<Stop>(&action);
    return stop && (stop->cause.reason == StopReason::recovering ||
                    stop->cause.reason == StopReason::paused);
  });
}

}  // namespace

void Narrator::tell_election(const journal::Step& step, const NodeSeen& seen) {
  const NodeId node = step.stamp.node;
  const Wait was = procedures_[node];
  const Wait is = step.view.procedure;
  if (is == Wait::BackingOff && was != is) {
    screen_.say(step.stamp.t,
                name(node) + " backs off before it starts over: " + seen.reasons.last().evidence);
  }
  if (is == Wait::Inviting && was != is) {
    screen_.say(step.stamp.t,
                name(node) + " begins Merge and invites others: " + seen.reasons.last().evidence);
  }
  if ((is == Wait::HaltingLower || is == Wait::Ceasing) && was != Wait::HaltingLower &&
      was != Wait::Ceasing) {
    screen_.say(step.stamp.t, name(node) +
                                  (becomes_a_group_of_its_own(step)
                                       ? " becomes a group of its own: "
                                       : " begins Election and halts the lower nodes: ") +
                                  seen.reasons.last().evidence);
  }
}

void Narrator::tell(const journal::Fault& fault) {
  if (!fault.node) return;
  const std::string whom =
      name(*fault.node) + (coordinator_ == fault.node ? ", the coordinator" : "");
  switch (fault.kind) {
    case journal::FaultKind::killed:
      return screen_.say(fault.t, "kill -9: " + whom);
    case journal::FaultKind::paused:
      return screen_.say(fault.t, "SIGSTOP: " + whom);
    case journal::FaultKind::resumed:
      return screen_.say(fault.t, "SIGCONT: " + whom);
    case journal::FaultKind::terminated:
      return screen_.say(fault.t, "SIGTERM: " + whom);
    default:
      return;
  }
}

void Narrator::tell(const journal::Ended& ended) {
  screen_.say(ended.stamp.t, name(ended.stamp.node) + " ends" +
                                 (ended.code == 0 ? " in order"
                                                  : ", exit code " + std::to_string(ended.code) +
                                                        ": " + ended.why));
}

void Narrator::formed(const Formed& formed) {
  coordinator_ = formed.group.coordinator;
  const NodeSet others = without(formed.members, formed.group.coordinator);
  std::string text = "Normal: coordinator " + std::to_string(formed.group.coordinator.value) +
                     ", members " + (others.empty() ? "none" : format_nodes(others)) + ", group " +
                     to_text(formed.group);
  if (formed.without_work) text += "; " + format_ms(*formed.without_work) + " ms without work";
  screen_.say(formed.at, text + "; because " + formed.reason);
}

void Narrator::ended_unasked(NodeId node, int wait_status) {
  const std::string text = name(node) + " " + describe_end(wait_status) +
                           ", not in order: " + last_line(cluster_.output(node));
  unasked_.push_back(text);
  screen_.say(Duration(monotonic_ns()), text);
}

}  // namespace muster::apps
