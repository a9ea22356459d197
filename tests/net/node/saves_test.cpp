#include "cluster.hpp"
#include "storages.hpp"

/// Slow Saves of the whole state. No action of a step with such a Save is lost.

using namespace muster;
using namespace muster::test;

BOOST_AUTO_TEST_SUITE(saves)

// The actions after a Save are performed when it is durable. One of these actions may cause an
// event at once. Here that action is Stop: no hook `stop` is due, so Stopped follows at once. The
// event must wait until all actions of the step are performed.
BOOST_AUTO_TEST_CASE(no_action_after_a_save_is_lost) {
  HeldSaves saves(NodeId{1}, [](const SafeState& safe) { return safe.vector.h == NodeId{2}; });
  Cluster cluster(
      {.nodes = 2, .repairs = {.save_promises_only = false}, .between = saves.between()});
  cluster.stage.hold(NodeId{1}, Hook::reorganize);
  cluster.start(1);
  Cue cue = cluster.stage.take(NodeId{1}, Hook::reorganize);
  cluster.start(2);
  BOOST_TEST_REQUIRE(saves.await());  // the step of the Halt: Save, Stop, Send the answer
  cluster.journals.read_all();
  const std::size_t before = cluster.journals.count(NodeId{1});
  cue.complete();
  cluster.await_line(1, "the end of reorganize", before, [](const journal::Line& line) {
    const auto* edge = std::get_if<journal::HookEdge>(&line);
    return edge && edge->hook == Hook::reorganize && edge->edge == journal::Edge::end;
  });
  saves.door.open();
  cluster.await_group({1, 2});
  BOOST_TEST(events<Unanswered>(cluster.journals.lines(NodeId{2})).empty());
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(the_whole_protocol_runs_where_all_of_the_state_is_saved) {
  Cluster cluster({.repairs = Repairs::none(), .sqlite = true});
  cluster.join(3);
  cluster.join(1);
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
