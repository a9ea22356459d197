#include "real_nodes.hpp"

/// Nodes whose configurations differ, because their owners change them one after the other
/// (docs/how-to/change-cluster.md).

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

struct Changed : RealNodes {
  explicit Changed(std::uint32_t count) : RealNodes(count) {
    with_T(1s);
    cluster.timings.stop_deadline = cluster.timings.start_deadline = 1s;
  }

  void with_T(Duration T) {
    cluster.timings.T = T;
    cluster.timings.coordinator_timeout = cluster.timings.check_every + T;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(configurations_that_differ)

BOOST_AUTO_TEST_CASE(one_key_at_one_of_three_keeps_that_one_from_working) {
  Changed nodes(3);
  nodes.restart(2);
  nodes.restart(3);
  nodes.with_T(990ms);
  nodes.restart(1);
  nodes.await_outvoted(1);
  const Ran status = nodes.ask(1, "status");
  BOOST_TEST(status.code == 3);
  BOOST_TEST(says(status, "T (990ms at node 1, 1s at node 2)"), status.output);
  const Ran wait = nodes.ask(1, "wait --timeout 1s");
  BOOST_TEST(wait.code == 7);
  BOOST_TEST(says(wait, " takes no part, because many nodes differ from it"), wait.output);
  const Ran why = nodes.ask(1, "why");
  BOOST_TEST(why.code == 3);
  BOOST_TEST(says(why, " takes no part, because many nodes differ from it: node 2 in T (990ms"),
             why.output);
  BOOST_TEST(says(why, "; make their configurations alike"), why.output);
  BOOST_TEST(holds(nodes.log(1),
                   "warning muster: node 1 takes no part, because many nodes differ from it"));
  nodes.await_coordinator(3, {2, 3});
  nodes.with_T(1s);
  nodes.restart(1);
  nodes.await_coordinator(3, {1, 2, 3});
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(a_rolling_change_moves_the_work_to_the_new_majority) {
  Changed nodes(3);
  nodes.begin_together({1, 2, 3});
  nodes.with_T(1100ms);
  nodes.restart(1);
  nodes.await_outvoted(1);
  nodes.await_coordinator(3, {2, 3});
  nodes.restart(2);
  nodes.await_coordinator(2, {1, 2});
  nodes.await_outvoted(3);
  nodes.restart(3);
  nodes.await_coordinator(3, {1, 2, 3});
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(a_node_is_added_when_all_others_know_it) {
  Changed nodes(4);
  const auto four = nodes.cluster.nodes;
  nodes.cluster.nodes.erase(NodeId{4});
  nodes.begin_together({1, 2, 3});
  nodes.cluster.nodes = four;
  nodes.begin_together({1, 2, 3});
  nodes.restart(4);
  nodes.await_coordinator(4, {1, 2, 3, 4});
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(a_node_is_removed_before_the_others_forget_it) {
  Changed nodes(4);
  nodes.begin_together({1, 2, 3, 4});
  BOOST_TEST(nodes.leave(4).code == 0);
  nodes.await_coordinator(3, {1, 2, 3});
  nodes.cluster.nodes.erase(NodeId{4});
  nodes.begin_together({1, 2, 3});
  nodes.judge();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
