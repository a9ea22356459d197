#include "recovery.hpp"

#include <muster/values/text.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <iterator>

namespace muster::test {

using namespace std::chrono_literals;

namespace {

constexpr Duration to_recover = 60s;
constexpr int storage_refused = 65;

}  // namespace

// In the textbook protocol a coordinator has no list of members, so this compares the groups of all
// nodes.
bool is_together(const apps::Cluster& cluster, const GroupNumber& before) {
  const auto& nodes = cluster.watch().nodes();
  const NodeSet live = cluster.live();
  if (live.empty() || !nodes.contains(*live.begin())) return false;
  const auto group = nodes.at(*live.begin()).view.group;
  return group && *group != before && std::all_of(live.begin(), live.end(), [&](NodeId node) {
           const apps::NodeSeen& seen = cluster.watch().node(node);
           return seen.up && seen.view.status == Status::Normal && seen.view.group == group;
         });
}

bool await_together(apps::Cluster& cluster, const std::function<bool()>& has_ended, Duration within,
                    const GroupNumber& before) {
  const auto done = [&] { return has_ended() || is_together(cluster, before); };
  if (cluster.options().cluster.protocol != ProtocolName::textbook)
    return cluster.until(done, within);
  if (cluster.until(done, within / 3)) return true;
  const NodeSet live = cluster.live();
  const NodeId highest = *std::prev(live.end());
  cluster.kill(highest);
  return cluster.start(highest) && cluster.until(done, within);
}

Recovery::Recovery(apps::Cluster& cluster, NodeSet& initialise)
    : cluster_(cluster), initialise_(initialise) {
  cluster_.listen(this);
}

std::string Recovery::become_whole() {
  start_all();
  if (!come_together("the attacker has gone")) return wrong_;
  while (cluster_.live().size() > 1) {
    const GroupNumber before = group();
    cluster_.kill(before.coordinator);
    if (!come_together("its coordinator was killed", before)) return wrong_;
  }
  start_all();
  come_together("all were started again");
  return wrong_;
}

void Recovery::start_all() {
  for (NodeId node : cluster_.nodes())
    if (cluster_.down().contains(node) && !cluster_.start(node))
      wrong_ = "a node cannot be started";
}

bool Recovery::come_together(const char* when, const GroupNumber& before) {
  const bool so = await_together(
      cluster_,
      [&] {
        for (NodeId node : std::exchange(refused_, {})) {
          initialise_.insert(node);
          if (!cluster_.start(node)) wrong_ = "a node cannot be started again";
        }
        return !wrong_.empty();
      },
      to_recover, before);
  if (so || !wrong_.empty()) return wrong_.empty();
  wrong_ = "the cluster is not whole again after " + std::string(when);
  for (NodeId node : cluster_.live())
    wrong_ += "; node " + to_text(node) + ": " + to_text(cluster_.watch().node(node).view);
  return false;
}

GroupNumber Recovery::group() const {
  return cluster_.watch().node(*cluster_.live().begin()).view.group.value_or(GroupNumber{});
}

void Recovery::ended_unasked(NodeId node, int status) {
  const bool refused = WIFEXITED(status) && WEXITSTATUS(status) == storage_refused;
  if (refused && !initialise_.contains(node))
    refused_.insert(node);
  else
    wrong_ = "node " + to_text(node) + " " + apps::describe_end(status);
}

}  // namespace muster::test
