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

constexpr Duration for_life_claims = 60s;
constexpr Duration for_a_dial = 5ms;
constexpr std::uint32_t working = 3;  // of five nodes

/// Listens at the addresses of two nodes that are down. To each node that dials, it claims to have
/// met a later life of that node.
class Liar {
 public:
  explicit Liar(const apps::ClusterConfig& cluster) : text_(cluster.canonical()) {
    for (const auto& [node, address] : cluster.nodes) {
      ports_[node] = address.port;
      if (node.value > working) doors_.emplace_back(node, Door(address.port));
    }
  }

  /// Makes that node dial both addresses, and answers its dials.
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
  std::deque<Wire> gone_;  ///< connections that stay open until the node has read their last bytes
  std::uint64_t hellos_ = 0;
};

class LifeClaims : apps::Cluster::Listener {
 public:
  LifeClaims(apps::Cluster& cluster, NodeSet& initialise)
      : cluster_(cluster), initialise_(initialise) {}

  std::string run() {
    cluster_.listen(this);
    start();
    if (!have_met()) return "there is no group";
    if (!are_ended()) return "the claims of two addresses have not ended all nodes: " + story();
    start();
    if (!cluster_.until([this] { return nobody_takes_part(); }, for_life_claims))
      return "nodes that refuse each other work: " + story();
    return Recovery(cluster_, initialise_).become_whole();
  }

 private:
  void start() {
    ended_ = {};
    for (std::uint32_t id = 1; id <= working; ++id)
      if (!cluster_.start(NodeId{id})) other_end_ = "a node cannot be started";
  }

  // Two members may have no session with each other while the third node is their coordinator. So
  // this function makes each pair of nodes meet.
  bool have_met() {
    if (!cluster_.until([this] { return is_together(cluster_); }, for_life_claims)) return false;
    const GroupNumber before = *cluster_.watch().node(NodeId{1}).view.group;
    cluster_.kill(before.coordinator);
    if (!cluster_.until([&] { return is_together(cluster_, before); }, for_life_claims))
      return false;
    return cluster_.start(before.coordinator) &&
           cluster_.until([this] { return is_together(cluster_); }, for_life_claims);
  }

  bool are_ended() {
    Liar liar(cluster_.options().cluster);
    return cluster_.until(
        [&] {
          for (NodeId node : cluster_.live()) liar.lie_to(node);
          return ended_.size() == working || !other_end_.empty();
        },
        for_life_claims);
  }

  // If two nodes have ended before the third met them in their new lives, the third works alone. No
  // other group is beside it.
  [[nodiscard]] bool nobody_takes_part() const {
    if (!other_end_.empty()) return false;
    const NodeSet live = cluster_.live();
    if (live.size() == 1) return true;
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
  NodeSet ended_;  ///< ended with exit code 65
  std::string other_end_;
};

}  // namespace

std::string life_claims_trial(const CampaignOptions& options) {
  AttackedCluster attacked(options, 5);
  const std::string wrong = LifeClaims(*attacked.cluster, attacked.initialise).run();
  if (wrong.empty()) attacked.directory.remove();
  return wrong;
}

}  // namespace muster::test
