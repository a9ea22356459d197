#include "cluster.hpp"
#include "storages.hpp"

/// The options that leave the paper (docs/explanation/options.md), on real nodes.

using namespace muster;
using namespace muster::test;

namespace {

using namespace std::chrono_literals;

ClusterOptions with(Options options) {
  ClusterOptions cluster;
  cluster.alter = [options](NodeId, net::NodeOptions& node) { node.config.options = options; };
  return cluster;
}

void await_procedure(Cluster& cluster, std::uint32_t id, Wait procedure) {
  cluster.await_view(id, "in " + to_text(procedure),
                     [&](const View& view) { return view.procedure == procedure; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(with_a_quorum_a_minority_is_never_normal) {
  Cluster cluster(with({.quorum = Quorum::majority}));
  const GroupNumber whole = cluster.join_all();
  cluster.lose(3);
  cluster.kill(2);
  await_procedure(cluster, 1, Wait::AwaitingMajority);
  cluster.start(2);
  BOOST_TEST((whole < cluster.await_group({1, 2})));
  for (const Called& call : cluster.stage.calls())
    if (call.hook == Hook::reorganize) BOOST_TEST(call.members.size() >= 2u);
  cluster.leave_all();
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(a_higher_node_that_comes_back_joins) {
  Cluster cluster(with({.preempt = Preempt::never}));
  cluster.start_all();
  cluster.await_together(nodes({1, 2, 3}));
  cluster.lose(3);
  cluster.start(3);
  const GroupNumber joined = cluster.await_together(nodes({1, 2, 3}));
  BOOST_TEST(joined.coordinator == NodeId{2});
  cluster.leave_all();
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(where_all_resume_together_nobody_starts_before_all_know_their_task) {
  HeldSaves saves(NodeId{1}, [](const SafeState& safe) { return safe.assigned.has_value(); });
  ClusterOptions options = with({.resume = Resume::all});
  options.between = saves.between();
  Cluster cluster(options);
  cluster.start(3);
  cluster.join(2);
  const auto from = cluster.journals.count(NodeId{3});
  const auto starts = [&] {
    return cluster.stage.count(NodeId{2}, Hook::start) +
           cluster.stage.count(NodeId{3}, Hook::start);
  };
  cluster.start(1);
  BOOST_TEST_REQUIRE(saves.await());
  const std::size_t before = starts();
  cluster.await_line(3, "node 2 knows its task", from, is_answer_from<Installed>(NodeId{2}));
  BOOST_TEST(starts() == before);
  saves.door.open();
  cluster.await_group({1, 2, 3});
  BOOST_TEST(starts() == before + 2);
  cluster.leave_all();
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(first_lives_that_settle_form_one_group) {
  Cluster cluster(with({.settle = 1h}));
  cluster.start(1);
  cluster.start(2);
  await_procedure(cluster, 1, Wait::Settling);
  await_procedure(cluster, 2, Wait::Settling);
  cluster.join(3);
  for (const Called& call : cluster.stage.calls())
    if (call.hook == Hook::reorganize) BOOST_TEST(call.members.size() == 3u);
  cluster.leave_all();
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
