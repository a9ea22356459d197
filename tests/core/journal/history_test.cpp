#include <muster/journal/history.hpp>
#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <fstream>

/// The history that is computed from a node's steps: when a reorganization begins and ends, and how
/// long each part takes.

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using history::Entry;
using history::Recorder;

/// Node 3 in its second life, Normal in group 7.5. Each step comes one millisecond after the
/// previous step.
struct Tale {
  Tale() {
    step(Recovered{}, Status::Down, Wait::SeekingHigher);
    view.group = GroupNumber{7, NodeId{5}};
    view.coordinator = NodeId{5};
    BOOST_REQUIRE(step(Started{}, Status::Normal, Wait::Idle));
  }
  std::optional<Entry> step(Event event, Status status, Wait procedure,
                            Activity application = Activity::Working) {
    view.status = status;
    view.procedure = procedure;
    view.application = application;
    return recorder.take(now += 1ms, event, view);
  }
  Event from(std::uint32_t node, Message message) const {
    Letter letter;
    letter.from = NodeId{node};
    letter.message = std::move(message);
    return Received{std::move(letter)};
  }

  Recorder recorder{NodeId{3}, Incarnation{2}};
  View view;
  Duration now = 100s;
};

/// The recorded cause of an election before which the node asks, as a quorum demands, whether the
/// other nodes are free.
struct Asking {
  std::string after(const Event& event, Wait procedure) {
    View view;
    view.procedure = procedure;
    return reasons.take(NodeId{3}, event, view) ? reasons.last().evidence : "";
  }
  Reasons reasons;
};
const Event answer = Received{{NodeId{1}, {}, NodeId{3}, {}, Answer{Free{}}}};
const Event silence = Unanswered{NodeId{1}, CallNumber{1}};
const Event wish = ElectionAsked{"node 2 asks for it"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(histories, Tale)

// The last event before the Halts is an answer or an unanswered call. But the cause of the election
// is the event that made the node ask.
BOOST_AUTO_TEST_CASE(who_asks_before_it_halts_elects_for_what_made_it_ask) {
  for (const Event& last : {answer, silence}) {
    Asking node;
    BOOST_TEST(node.after(wish, Wait::AskingFree) == "");
    BOOST_TEST(node.after(last, Wait::HaltingLower) == "it was asked for: node 2 asks for it");
  }
  Asking node;
  node.after(wish, Wait::AskingFree);
  BOOST_TEST(node.after(Paused{80ms}, Wait::HaltingLower) == "node 3 was paused for 80.0 ms");
}

BOOST_AUTO_TEST_CASE(who_asks_within_an_election_does_not_begin_another) {
  Asking higher;
  BOOST_TEST(higher.after(Recovered{}, Wait::AskingFree) == "node 3 recovered");
  BOOST_TEST(higher.after(answer, Wait::HaltingLower) == "");
  Asking lower;
  BOOST_TEST(lower.after(Failed{NodeId{5}, {}}, Wait::SeekingHigher) == "node 5 failed");
  BOOST_TEST(lower.after(silence, Wait::AskingFree) == "");
  BOOST_TEST(lower.after(answer, Wait::HaltingLower) == "");
}

BOOST_AUTO_TEST_CASE(a_coordinator_s_election_and_where_its_time_goes) {
  BOOST_TEST(!step(Failed{NodeId{5}, Incarnation{1}}, Status::Normal, Wait::SeekingHigher));
  BOOST_TEST(!step(Unanswered{NodeId{4}, CallNumber{1}}, Status::Election, Wait::HaltingLower,
                   Activity::Stopping));
  now += 9ms;
  view.up = NodeSet{};
  BOOST_TEST(!step(Stopped{}, Status::Election, Wait::HaltingLower, Activity::Idle));
  view.group = GroupNumber{8, NodeId{3}};
  view.coordinator = NodeId{3};
  view.up = NodeSet{NodeId{1}};
  BOOST_TEST(!step(from(1, Answer{Halted{7}}), Status::Reorganization, Wait::Announcing));
  BOOST_TEST(!step(from(1, Answer{Joined{}}), Status::Reorganization, Wait::Reorganizing));
  BOOST_TEST(!step(Reorganized{}, Status::Reorganization, Wait::MakingReady));
  const auto entry = step(from(1, Answer{Installed{}}), Status::Normal, Wait::Idle);
  BOOST_REQUIRE(entry);
  BOOST_TEST((entry->node == NodeId{3} && entry->incarnation == Incarnation{2}));
  BOOST_TEST(entry->trigger == Trigger::failed);
  BOOST_TEST(entry->evidence == "node 5 failed");
  BOOST_TEST(entry->before == (GroupNumber{7, NodeId{5}}));
  BOOST_TEST((entry->group == GroupNumber{8, NodeId{3}} && entry->coordinator == NodeId{3}));
  BOOST_TEST(entry->members == (NodeSet{NodeId{1}, NodeId{3}}));
  BOOST_TEST(entry->elections == 1u);
  BOOST_TEST(entry->halted_by.empty());
  BOOST_TEST(entry->took == 15ms);
  const history::Phases phases{1ms, 11ms, 0ms, 1ms, 1ms, 1ms, 10ms};
  BOOST_TEST(entry->phases == phases);
}

BOOST_AUTO_TEST_CASE(a_member_knows_who_halted_it) {
  view.group.reset();
  view.coordinator.reset();
  BOOST_TEST(!step(from(4, Halt{}), Status::Election, Wait::Idle, Activity::Stopping));
  BOOST_TEST(!step(Stopped{}, Status::Election, Wait::Idle, Activity::Idle));
  BOOST_TEST(!step(from(5, Halt{}), Status::Election, Wait::Idle, Activity::Idle));
  view.group = GroupNumber{9, NodeId{5}};
  view.coordinator = NodeId{5};
  BOOST_TEST(!step(from(5, NewCoordinator{}), Status::Reorganization, Wait::Idle, Activity::Idle));
  BOOST_TEST(!step(from(5, Ready{}), Status::Reorganization, Wait::Idle, Activity::Starting));
  const auto going_on = recorder.going_on(now + 5ms);
  BOOST_REQUIRE(going_on);
  BOOST_TEST((!going_on->group && going_on->took == 9ms && going_on->phases.starting == 5ms));
  const auto entry = step(Started{}, Status::Normal, Wait::Idle);
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->trigger == Trigger::halted);
  BOOST_TEST(entry->evidence == "node 4 halted it");
  BOOST_TEST(entry->halted_by == (std::vector<NodeId>{NodeId{4}, NodeId{5}}));
  BOOST_TEST(entry->elections == 0u);
  BOOST_TEST(!entry->members);
  const history::Phases phases{0ms, 0ms, 3ms, 0ms, 1ms, 1ms, 1ms};
  BOOST_TEST(entry->phases == phases);
  BOOST_TEST(!recorder.going_on(now));
}

BOOST_AUTO_TEST_CASE(an_election_that_is_left_to_a_higher_node_is_no_reorganization) {
  BOOST_TEST(!step(ElectionAsked{"to see"}, Status::Normal, Wait::SeekingHigher));
  BOOST_TEST(recorder.going_on(now).has_value());
  BOOST_TEST(!step(from(5, Answer{Here{}}), Status::Normal, Wait::Idle));
  BOOST_TEST(!recorder.going_on(now));
}

BOOST_AUTO_TEST_CASE(one_that_starts_again_says_why) {
  step(ElectionAsked{"new\ndisk"}, Status::Election, Wait::HaltingLower);
  step(from(1, Answer{Halted{7}}), Status::Reorganization, Wait::Announcing);
  step(Unanswered{NodeId{1}, CallNumber{2}}, Status::Election, Wait::HaltingLower);
  view.group = GroupNumber{10, NodeId{3}};
  const auto entry = step(Started{}, Status::Normal, Wait::Idle);
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->trigger == Trigger::asked);
  BOOST_TEST(entry->evidence == "it was asked for: new?disk");
  BOOST_TEST(entry->then == "node 1 did not answer NewCoordinator");
  BOOST_TEST(entry->elections == 2u);
}

BOOST_AUTO_TEST_CASE(a_member_that_was_left_behind_says_where_its_coordinator_is) {
  step(Expired{Timer::coordinator}, Status::Normal, Wait::Probing);
  const Answer elsewhere{Elsewhere{GroupNumber{20, NodeId{6}}}};
  BOOST_TEST(!step(from(5, elsewhere), Status::Down, Wait::SeekingHigher, Activity::Stopping));
  step(from(5, Answer{Here{}}), Status::Down, Wait::Idle, Activity::Stopping);
  const auto going_on = recorder.going_on(now);
  BOOST_REQUIRE(going_on);
  BOOST_TEST(going_on->trigger == Trigger::left_behind);
  BOOST_TEST(going_on->evidence == "coordinator 5 is in another group, 20.6");
  BOOST_TEST(going_on->before == (GroupNumber{7, NodeId{5}}));
}

BOOST_AUTO_TEST_CASE(the_second_election_in_a_row_says_which_node_ended_it) {
  for (const Status then : {Status::Normal, Status::Down}) {
    step(Expired{Timer::coordinator}, Status::Normal, Wait::SeekingHigher);
    const Wait is = then == Status::Down ? Wait::SeekingHigher : Wait::Idle;
    BOOST_TEST(!step(from(6, Answer{Here{}}), then, is));
  }
  BOOST_TEST(recorder.going_on(now)->then.value().starts_with("node 6 ended two elections"));
}

BOOST_AUTO_TEST_CASE(a_node_that_leaves_is_in_no_reorganization) {
  step(Leaving{}, Status::Normal, Wait::Idle, Activity::Stopping);
  step(Stopped{}, Status::Down, Wait::Idle, Activity::Idle);
  BOOST_TEST(!recorder.going_on(now));
}

// Entries of the history as release 0.1 has written them to stores. If an entry cannot be read,
// `muster history` loses it.
BOOST_AUTO_TEST_CASE(golden_entries_of_the_history) {
  std::ifstream file(MUSTER_GOLDEN "/history.jsonl");
  std::size_t entries = 0;
  for (std::string line; std::getline(file, line); ++entries)
    BOOST_TEST(to_json(read_json<history::Entry>(boost::json::parse(line)).value()) == line);
  BOOST_TEST(entries > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
