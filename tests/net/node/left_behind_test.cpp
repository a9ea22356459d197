#include "links.hpp"

#include <muster/net/admin.hpp>

/// Real nodes of which two cannot reach each other (docs/decisions/left-behind.md).

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(left_behind)

namespace {

// The timings are short, because a test waits until a member has asked its coordinator and then
// stopped.
Timings timings() {
  Timings timings = patient(600ms, 200ms);
  timings.coordinator_timeout = 800ms;
  return timings;
}

/// Nodes over links that can be cut.
struct Linked {
  explicit Linked(std::uint32_t nodes = 3)
      : cluster({.nodes = nodes, .timings = timings(), .alter = [this](NodeId id, auto& options) {
                   options.admin.socket = cluster_socket(id.value);
                   links.lead(options);
                 }}) {}

  void note_cut(std::uint32_t one, std::uint32_t other) {
    cluster.journals.note(journal::FaultKind::cut, NodeId{one}, nodes({other}));
  }
  [[nodiscard]] std::string cluster_socket(std::uint32_t id) const {
    return directory.path() / (std::to_string(id) + ".sock");
  }
  /// Waits until the node has recovered and the others are one group. A later Check of the
  /// coordinator does not change this.
  void await_alone(std::uint32_t id, const std::set<std::uint32_t>& others) {
    cluster.await_view(id, "node " + std::to_string(id) + " recovered", [](const View& view) {
      return view.status == Status::Down && view.application == Activity::Idle;
    });
    cluster.await_group(others);
  }

  TemporaryDirectory directory;
  Links links;
  Cluster cluster;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_member_that_missed_the_halt_of_its_coordinator_recovers) {
  Linked nodes;
  Cluster& cluster = nodes.cluster;
  cluster.join_all();
  cluster.lose(3);
  nodes.note_cut(1, 3);
  nodes.links.cut(NodeId{1}, NodeId{3});
  cluster.start(3);
  nodes.await_alone(1, {2, 3});
  BOOST_TEST(net::ask_admin(nodes.cluster_socket(1), Bell::generous, "history")
                 .value()
                 .find("coordinator 2 is in another group") != std::string::npos);
  cluster.leave_all();
  cluster.judge();
}

// For example, a name has two addresses, and the node listens at one of them only.
BOOST_AUTO_TEST_CASE(a_member_that_is_refused_by_the_new_coordinator_recovers) {
  Linked nodes;
  Cluster& cluster = nodes.cluster;
  cluster.join_all();
  cluster.lose(3);
  nodes.note_cut(1, 3);
  nodes.links.refuse(NodeId{1}, NodeId{3});
  cluster.start(3);
  nodes.await_alone(1, {2, 3});
  cluster.leave_all();
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(a_member_whose_link_to_its_coordinator_is_cut_recovers) {
  Linked nodes;
  Cluster& cluster = nodes.cluster;
  cluster.join_all();
  nodes.note_cut(1, 3);
  nodes.links.cut(NodeId{1}, NodeId{3});
  nodes.await_alone(1, {2, 3});
  cluster.leave_all();
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(a_node_that_two_coordinators_halt_in_turn_names_both) {
  Linked nodes;
  Cluster& cluster = nodes.cluster;
  cluster.join_all();
  nodes.note_cut(2, 3);
  nodes.links.cut(NodeId{2}, NodeId{3});
  cluster.await("node 1 is halted in turn", [&] {
    const auto status = net::ask_admin(nodes.cluster_socket(1), Bell::generous);
    return status && status->find("\"halted_in_turn_by\":[2,3]") != std::string::npos;
  });
  cluster.leave_all();
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
