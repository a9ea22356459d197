#include "cluster.hpp"
#include "storages.hpp"

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

/// Saves that take time: nothing overtakes them, and nothing of their step is lost.

using namespace muster;
using test::Cluster;
using test::ClusterOptions;
using test::Cue;
using test::HeldSaves;

namespace {

template <class Message>
bool is_letter(const journal::Line& line) {
  const auto* step = std::get_if<journal::Step>(&line);
  const auto* received = step ? std::get_if<Received>(&step->event) : nullptr;
  return received && std::holds_alternative<Message>(received->letter.message);
}

/// The letters that have come to the node in this life.
std::uint64_t letters_in(const net::Node& node) {
  const std::string status = node.status_json();
  const std::string key = "\"letters_in\":";
  return std::stoull(status.substr(status.find(key) + key.size()));
}

/// What waits for a Save is in no journal yet.
void await_letters(const net::Node& node, std::uint64_t count) {
  const auto begun = std::chrono::steady_clock::now();
  while (letters_in(node) < count) {
    BOOST_REQUIRE(std::chrono::steady_clock::now() - begun < test::Bell::generous);
    std::this_thread::yield();
  }
}

}  // namespace

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
  cluster.await("the Halt of node 2", [&] {
    const auto view = cluster.journals.view(NodeId{2});
    return view && view->procedure == Wait::HaltingLower;
  });
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

// An answer is to a call, and the next life of a node that failed begins to count its calls anew.
// That life hears "halted" when its own Halt is durable, not when its predecessor's is.
BOOST_AUTO_TEST_CASE(no_answer_goes_to_the_next_life_of_who_called) {
  const auto of_life = [](std::uint64_t life) {
    return [life](const SafeState& safe) {
      const auto seen = safe.seen.find(NodeId{2});
      return safe.vector.h == NodeId{2} && seen != safe.seen.end() && seen->second.value == life;
    };
  };
  HeldSaves first(NodeId{1}, of_life(1));
  HeldSaves second(NodeId{1}, of_life(2));
  ClusterOptions options{.nodes = 2};
  options.timings.T = std::chrono::seconds(4);             // more than twice what the Saves wait
  options.timings.check_every = std::chrono::seconds(30);  // no letters but those of the elections
  options.timings.coordinator_timeout = options.timings.check_every + options.timings.T;
  options.repairs.save_promises_only = false;
  options.between = [&](NodeId id, std::unique_ptr<SafeStorage> inner) {
    return second.between()(id, first.between()(id, std::move(inner)));
  };
  Cluster cluster(std::move(options));
  cluster.start(1);
  cluster.await_group({1});
  cluster.start(2);
  BOOST_TEST_REQUIRE(first.await());
  cluster.kill(2);
  const auto letters = letters_in(cluster.node(1));
  cluster.start(2);
  await_letters(cluster.node(1), letters + 1);  // the Halt of its new life waits for that Save
  const std::size_t before = cluster.journals.count(NodeId{2});
  first.door.open();
  BOOST_TEST_REQUIRE(second.await());
  // Node 1 asks the new life before it takes the Halt, so a wrong answer would have come by then.
  cluster.await_line(2, "a question of node 1", before,
                     [](const journal::Line& line) { return is_letter<AreYouThere>(line); });
  const auto lines = cluster.journals.lines(NodeId{2});
  const auto answers = std::count_if(lines.begin(), lines.end(), is_letter<Answer>);
  BOOST_TEST(answers == 0);
  second.door.open();
  cluster.await_group({1, 2});
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
