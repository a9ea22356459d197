#include "cluster.hpp"
#include "storages.hpp"

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>

/// Saves that take time: nothing overtakes them, and nothing of their step is lost.

using namespace muster;
using test::Cluster;
using test::ClusterOptions;
using test::Cue;
using test::HeldSaves;

BOOST_AUTO_TEST_SUITE(saves)

// The line of a step stands in the journal before its actions are performed; that of the Save
// after.
BOOST_AUTO_TEST_CASE(no_event_overtakes_a_save) {
  HeldSaves saves(NodeId{1}, [](const SafeState& safe) { return safe.assigned.has_value(); });
  ClusterOptions options{.nodes = 2};
  options.timings.check_every = std::chrono::milliseconds(20);
  options.between = saves.between();
  Cluster cluster(std::move(options));
  cluster.start(1);
  BOOST_TEST_REQUIRE(saves.await());
  cluster.journals.read_all();
  const auto before = cluster.journals.lines(NodeId{1});
  const auto* last = std::get_if<journal::Step>(&before.back());
  BOOST_TEST_REQUIRE(last != nullptr);
  const auto is_save = [](const Action& action) { return std::holds_alternative<Save>(action); };
  BOOST_TEST(std::any_of(last->actions.begin(), last->actions.end(), is_save));
  // Node 2 comes up and calls: its calls wait.
  cluster.start(2);
  cluster.await_view(2, "halting node 1",
                     [](const View& view) { return view.procedure == Wait::HaltingLower; });
  cluster.journals.read_all();
  BOOST_TEST(cluster.journals.count(NodeId{1}) == before.size());
  BOOST_TEST(cluster.stage.count(NodeId{1}, Hook::start) == 0u);
  saves.door.open();
  cluster.await_group({1, 2});
  const auto lines = cluster.journals.lines(NodeId{1});
  BOOST_TEST(std::holds_alternative<journal::Performed>(lines[before.size()]));
  BOOST_TEST(test::is_edge(lines[before.size() + 1], Hook::start, journal::Edge::begin));
  cluster.judge();
}

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
