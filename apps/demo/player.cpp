#include "apps/demo/player.hpp"

#include "apps/base/interrupt.hpp"
#include "apps/base/text.hpp"

#include <muster/detail/values/kinds.hpp>

#include <algorithm>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

constexpr Duration refresh_period = 100ms;

/// Time for `wait normal` without `within`. This time is generous, because the machine may be busy.
Duration patience(const Timings& timings) {
  return std::max<Duration>(10s, 60 * timings.T);
}

std::string what_is(const Cluster& cluster) {
  std::string text;
  for (NodeId node : cluster.live()) {
    const NodeSeen& seen = cluster.watch().node(node);
    text += (text.empty() ? "node " : ", node ") + std::to_string(node.value) + " " +
            (seen.up ? std::string(enumerator_name(seen.view.status)) : "not up");
    if (seen.view.coordinator) text += " c=" + std::to_string(seen.view.coordinator->value);
  }
  return text.empty() ? "no node is up" : text;
}

}  // namespace

bool Player::wait(const std::function<bool()>& done, Duration within) {
  const Duration end = Duration(monotonic_ns()) + within;
  for (;;) {
    const Duration left = end - Duration(monotonic_ns());
    const bool is_done = cluster_.until(done, std::min(left, refresh_period));
    refresh_();
    if (is_done || left <= refresh_period || caught_signal() != 0) return is_done;
  }
}

Expected<> Player::play(const ScriptStep& step) {
  return std::visit([&](const auto& what) { return play(what, step); }, step.what);
}

Expected<> Player::play(const WaitNormal& wait, const ScriptStep& step) {
  const Duration within = wait.within.value_or(patience(cluster_.options().cluster.timings));
  if (this->wait([this] { return cluster_.normal(); }, within) || caught_signal() != 0) return {};
  return Failure{ExitCode::does_not_hold, step.place + ": " + step.text +
                                              ": the nodes are not Normal in one group after " +
                                              format_duration(within) + ": " + what_is(cluster_)};
}

Expected<> Player::play(const Run& run, const ScriptStep&) {
  wait([] { return false; }, run.time);
  return {};
}

Expected<> Player::play(const Act& act, const ScriptStep& step) {
  const auto nodes = choose(act);
  if (!nodes)
    return Failure{ExitCode::usage, step.place + ": " + step.text + ": " + nodes.error().what};
  for (NodeId node : *nodes) {
    if (act.verb == Verb::kill) cluster_.kill(node);
    if (act.verb == Verb::pause) cluster_.pause(node);
    if (act.verb == Verb::resume) cluster_.resume(node);
    if (act.verb != Verb::start) continue;
    if (const auto started = cluster_.start(node); !started) return started;
  }
  if (!act.lasting) return {};
  wait([] { return false; }, *act.lasting);
  for (NodeId node : *nodes) cluster_.resume(node);
  return {};
}

NodeSet Player::possible(Verb verb) const {
  switch (verb) {
    case Verb::kill: {
      NodeSet both = cluster_.live();
      for (NodeId node : cluster_.paused()) both.insert(node);
      return both;
    }
    case Verb::start:
      return cluster_.down();
    case Verb::pause:
      return cluster_.live();
    case Verb::resume:
      return cluster_.paused();
  }
  return {};
}

/// The present coordinator if it is in `possible`. Else the latest former coordinator that is in
/// `possible`.
std::optional<NodeId> Player::coordinator(const NodeSet& possible) const {
  const auto now = cluster_.watch().coordinator();
  if (now && possible.contains(*now)) return now;
  const auto& formed = cluster_.watch().formed();
  for (auto group = formed.rbegin(); group != formed.rend(); ++group) {
    if (possible.contains(group->group.coordinator)) return group->group.coordinator;
  }
  return std::nullopt;
}

Expected<NodeSet> Player::choose(const Act& act) const {
  const NodeSet possible = this->possible(act.verb);
  const auto coordinator = this->coordinator(possible);
  NodeSet chosen;
  const auto refuse = [](const std::string& why) { return Failure{ExitCode::usage, why}; };
  for (const Chosen& word : act.nodes) {
    if (const auto* node = std::get_if<NodeId>(&word)) {
      if (!possible.contains(*node)) {
        return refuse(std::string(enumerator_name(act.verb)) + " is not possible now for " +
                      (possible.empty() ? "any node"
                                        : "node " + std::to_string(node->value) + ", only for " +
                                              format_nodes(possible)));
      }
      chosen.insert(*node);
      continue;
    }
    const Selector selector = std::get<Selector>(word);
    if (selector == Selector::all) chosen = possible;
    if (possible.empty())
      return refuse("there is no node to " + std::string(enumerator_name(act.verb)));
    if (selector == Selector::lowest) chosen.insert(*possible.begin());
    if (selector == Selector::coordinator) {
      if (!coordinator) return refuse("there is no coordinator; put wait normal before this step");
      chosen.insert(*coordinator);
    }
    if (selector == Selector::highest_member) {
      NodeSet members = possible;
      if (coordinator) members.erase(*coordinator);
      if (members.empty()) return refuse("there is no member besides the coordinator");
      chosen.insert(*std::prev(members.end()));
    }
  }
  return chosen;
}

}  // namespace muster::apps
