#include "cluster.hpp"
#include "storages.hpp"

#include <boost/test/unit_test.hpp>

/// Saves that take time, and of the whole state: nothing of their step is lost.

using namespace muster;
using test::Cluster;
using test::ClusterOptions;
using test::Cue;
using test::HeldSaves;

BOOST_AUTO_TEST_SUITE(saves)

// The actions after a Save are performed when it is durable: what they bring about at once, here
// the end of a STOP that owes nothing, waits until all of them are.
BOOST_AUTO_TEST_CASE(no_action_after_a_save_is_lost) {
  HeldSaves saves(NodeId{1}, [](const SafeState& safe) { return safe.vector.h == NodeId{2}; });
  ClusterOptions options{.nodes = 2};
  options.repairs.save_promises_only = false;
  options.between = saves.between();
  Cluster cluster(std::move(options));
  cluster.stage.hold(NodeId{1}, Hook::reorganize);
  cluster.start(1);
  Cue cue = cluster.stage.take(NodeId{1}, Hook::reorganize);
  cluster.start(2);
  BOOST_TEST_REQUIRE(saves.await());  // of the Halt: Save, Stop, Send the answer
  cluster.journals.read_all();
  const std::size_t before = cluster.journals.count(NodeId{1});
  cue.complete();
  cluster.await_line(1, "the end of reorganize", before, [](const journal::Line& line) {
    return test::is_edge(line, Hook::reorganize, journal::Edge::end);
  });
  saves.door.open();
  cluster.await_group({1, 2});
  BOOST_TEST(test::events<Unanswered>(cluster.journals.lines(NodeId{2})).empty());
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(the_whole_protocol_runs_where_all_of_the_state_is_saved) {
  ClusterOptions options;
  options.repairs = Repairs::none();
  options.sqlite = true;
  Cluster cluster(std::move(options));
  cluster.start(3);
  cluster.await_group({3});
  cluster.start(1);
  cluster.await_group({1, 3});
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
