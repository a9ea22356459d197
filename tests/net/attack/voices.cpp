#include "campaign.hpp"
#include "recovery.hpp"
#include "wire.hpp"

#include "apps/cluster/cluster.hpp"

#include <muster/values/text.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <deque>

namespace muster::test {

using namespace std::chrono_literals;

namespace {

constexpr Duration for_voices = 60s;
constexpr Duration for_a_dial = 5ms;
constexpr std::uint32_t working = 3;  // of five

/// Somebody who listens at the addresses of two nodes that are down, and has met a later life of
/// whoever dials.
class Liar {
 public:
  explicit Liar(const apps::ClusterConfig& cluster) : text_(cluster.canonical()) {
    for (const auto& [node, address] : cluster.nodes) {
      ports_[node] = address.port;
      if (node.value > working) doors_.emplace_back(node, Door(address.port));
    }
  }

  /// Has that node dial both addresses, and answers.
  void lie_to(NodeId node) {
    for (auto& [absent, door] : doors_) {
      Wire provoking(ports_.at(node));
      net::Hello other = hello(absent, node);
      other.cluster = "name=another\n";
      provoking.say(other);
      Wire dialled = door.next(for_a_dial);
      const auto first = dialled.hear();
      const auto* said = first ? std::get_if<net::Hello>(&*first) : nullptr;
      if (said == nullptr) continue;
      dialled.say(hello(absent, said->from));
      dialled.say(net::Refusal{net::RefusalReason::outlived, "a later one was seen",
                               said->incarnation.value + 7});
      gone_.push_back(std::move(dialled));
    }
  }

 private:
  [[nodiscard]] net::Hello hello(NodeId from, NodeId to) {
    net::Hello made;
    made.role = net::Role::node;
    made.cluster = text_;
    made.from = from;
    made.to = to;
    made.incarnation = Incarnation{1};
    made.instance = 4711;
    made.number = ++hellos_;
    return made;
  }

  std::string text_;
  std::map<NodeId, std::uint16_t> ports_;
  std::vector<std::pair<NodeId, Door>> doors_;
  std::deque<Wire> gone_;  ///< what it has said is read before they end
  std::uint64_t hellos_ = 0;
};

class Voices : apps::Cluster::Listener {
 public:
  Voices(apps::Cluster& cluster, NodeSet& initialise)
      : cluster_(cluster), initialise_(initialise) {}

  std::string run() {
    cluster_.listen(this);
    start();
    if (!have_met()) return "there is no group";
    if (!are_ended()) return "two voices have not ended all nodes: " + story();
    start();
    if (!cluster_.until([this] { return nobody_takes_part(); }, for_voices))
      return "nodes that refuse each other work: " + story();
    return Recovery(cluster_, initialise_).become_whole();
  }

 private:
  void start() {
    ended_ = {};
    for (std::uint32_t id = 1; id <= working; ++id)
      if (!cluster_.start(NodeId{id})) other_end_ = "a node cannot be started";
  }

  // Two of them may not hear each other while the third is their coordinator.
  bool have_met() {
    if (!cluster_.until([this] { return is_together(cluster_); }, for_voices)) return false;
    const GroupNumber before = *cluster_.watch().node(NodeId{1}).view.group;
    cluster_.kill(before.coordinator);
    if (!cluster_.until([&] { return is_together(cluster_, before); }, for_voices)) return false;
    return cluster_.start(before.coordinator) &&
           cluster_.until([this] { return is_together(cluster_); }, for_voices);
  }

  bool are_ended() {
    Liar liar(cluster_.options().cluster);
    return cluster_.until(
        [&] {
          for (NodeId node : cluster_.live()) liar.lie_to(node);
          return ended_.size() == working || !other_end_.empty();
        },
        for_voices);
  }

  [[nodiscard]] bool nobody_takes_part() const {
    if (!other_end_.empty()) return false;
    const NodeSet live = cluster_.live();
    return std::all_of(live.begin(), live.end(), [&](NodeId node) {
      const apps::NodeSeen& seen = cluster_.watch().node(node);
      return seen.up && seen.view.procedure == Wait::Outvoted;
    });
  }

  void ended_unasked(NodeId node, int status) override {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 65)
      ended_.insert(node);
    else
      other_end_ = "node " + to_text(node) + " " + apps::describe_end(status);
  }

  [[nodiscard]] std::string story() const {
    std::string told = to_text(ended_) + " have ended with 65; " + other_end_;
    for (NodeId node : cluster_.live())
      told += "; node " + to_text(node) + ": " + to_text(cluster_.watch().node(node).view);
    return told + "; see " + cluster_.options().directory.string();
  }

  apps::Cluster& cluster_;
  NodeSet& initialise_;
  NodeSet ended_;  ///< with 65
  std::string other_end_;
};

}  // namespace

std::string voices_trial(const CampaignOptions& options) {
  AttackedCluster attacked(options, 5);
  const std::string wrong = Voices(*attacked.cluster, attacked.initialise).run();
  if (wrong.empty()) attacked.directory.remove();
  return wrong;
}

}  // namespace muster::test
