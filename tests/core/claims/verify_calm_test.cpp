#include "judgement.hpp"

#include <algorithm>

/// The verifier on journals that the test makes: when no assertion is claimed, and when a time
/// without faults is long enough.

using namespace muster;
using namespace muster::test;

// --- Pauses

BOOST_AUTO_TEST_SUITE(pauses)

// Node 3 is paused. During the pause nodes 1 and 2 form a group, and then node 3 goes on.
JournalBuilder paused(bool told_by_fault) {
  JournalBuilder story = formed();
  const Duration from = story.now();
  if (told_by_fault) story.fault(FaultKind::paused, 3);
  story.wait(moment);
  story.reform({1, 2});
  if (told_by_fault) story.fault(FaultKind::resumed, 3);
  story.is_halted(3, Paused{story.now() + Duration(1) - from});
  return story;
}

BOOST_AUTO_TEST_CASE(a_node_is_down_from_paused_to_its_paused) {
  const Judgement judgement = judge(paused(true));
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 3u);
  const verify::NotClaimed& time = judgement.not_claimed.front();
  BOOST_TEST(time.assertion == "1a");
  BOOST_TEST(time.why == "assumption 9: node 3 paused");
  BOOST_TEST(time.to - time.from > moment);
}

// The journal of faults has no line of this pause. Only the node's own event Paused reports it,
// afterwards.
BOOST_AUTO_TEST_CASE(a_node_is_down_for_the_gap_before_a_paused) {
  JournalBuilder story = paused(false);
  const Judgement judgement = judge(story, "");
  BOOST_TEST(judgement.not_claimed.size() == 3u);
  for (journal::Line& line : story.lines)
    if (auto* step = std::get_if<journal::Step>(&line))
      if (auto* event = std::get_if<Paused>(&step->event)) event->gap = Duration(1);
  BOOST_TEST(judge(story).violated() == "1a works-apart");
}

BOOST_AUTO_TEST_CASE(only_to_resumed_where_the_first_event_after_it_is_another) {
  JournalBuilder story = paused(true);
  const auto resumed = std::find_if(story.lines.begin(), story.lines.end(), [](const auto& line) {
    const auto* fault = std::get_if<journal::Fault>(&line);
    return fault && fault->kind == FaultKind::resumed;
  });
  const auto step = std::find_if(resumed, story.lines.end(), [](const auto& line) {
    return std::holds_alternative<journal::Step>(line);
  });
  std::get<journal::Step>(*step).event = Expired{};
  const Judgement judgement = judge(story);
  // From `resumed` on, node 3 is a second coordinator. Node 3's work for the old group is still
  // ignored.
  BOOST_TEST(judgement.violated() == "1a");
  BOOST_TEST(std::get<verify::Violated>(judgement.of("1a")).place.line ==
             static_cast<std::uint64_t>(resumed - story.lines.begin()) + 1);
}

BOOST_FIXTURE_TEST_CASE(a_paused_node_that_never_goes_on_is_down_to_the_end, Formed) {
  story.fault(FaultKind::paused, 3);
  story.reform({1, 2});
  story.wait(bound(story));
  story.fault(FaultKind::terminated, 1);
  const Judgement judgement = judge(story, "");
  BOOST_TEST(judgement.checked("2") == 1u);
  BOOST_TEST(judgement.not_claimed.size() == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_is_killed_while_paused_is_down, Formed) {
  story.fault(FaultKind::paused, 3);
  story.fault(FaultKind::killed, 3);
  story.reform({1, 2});
  BOOST_TEST(judge(story).violated() == "");
}

// The work of the paused node is ignored from the beginning of the pause.
BOOST_FIXTURE_TEST_CASE(its_work_does_not_count_again_until_it_is_started, Formed) {
  const Duration from = story.now();
  story.fault(FaultKind::paused, 3);
  story.reform({1, 2});
  story.fault(FaultKind::resumed, 3);
  story.enter_election(3);
  story.step(3, Paused{story.now() - from}, {story.stop_action(3)});
  story.permits(3, PermitsEdge::revoked);
  story.step(1, Expired{});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_SUITE_END()

// --- Assertion 2

BOOST_AUTO_TEST_SUITE(assertion_2)

BOOST_FIXTURE_TEST_CASE(is_checked_before_a_fault_when_the_calm_was_long_enough, Formed) {
  story.is_halted(1);
  story.wait(bound(story));
  story.fault(FaultKind::reset, 1);
  violates(story, "2", "node 3 Normal c=3, node 1 Election c=none");
}

BOOST_FIXTURE_TEST_CASE(is_checked_at_the_end, Formed) {
  story.is_halted(1);
  story.wait(bound(story));
  story.step(3, Expired{});
  BOOST_TEST(judge(story).violated() == "2");
}

BOOST_FIXTURE_TEST_CASE(is_not_checked_after_too_short_a_calm, Formed) {
  story.is_halted(1);
  const Duration calm = story.now() - journal::time_of(story.lines.front());
  story.wait(bound(story) - 2 * calm);
  story.fault(FaultKind::reset, 1);
  const Judgement judgement = judge(story, "");
  const auto& verdict = std::get<verify::NotClaimed>(judgement.of("2"));
  BOOST_TEST(verdict.why ==
             "no time without faults was as long as the bound of " + to_text(bound(story)));
  BOOST_TEST(judgement.outcome.holds());
}

BOOST_AUTO_TEST_CASE(every_disturbance_ends_the_calm) {
  const std::function<void(JournalBuilder&)> disturbances[] = {
      [](JournalBuilder& story) { story.fault(FaultKind::reset, 2); },
      [](JournalBuilder& story) { story.is_halted(2, Paused{Duration(1)}); },
      [](JournalBuilder& story) { story.step(2, HookFailed{}); },
      [](JournalBuilder& story) { story.step(2, Leaving{}); },
      [](JournalBuilder& story) { story.recovers(2); },
      [](JournalBuilder& story) { story.ends(2); },
  };
  for (const auto& disturb : disturbances) {
    JournalBuilder story = formed();
    story.is_halted(1);
    story.wait(bound(story) / 2);
    JournalBuilder calm = story;
    disturb(story);
    for (JournalBuilder* each : {&story, &calm}) {
      each->wait(bound(story) / 2 + moment);
      each->step(3, Expired{});
    }
    BOOST_TEST(judge(calm).violated() == "2");
    BOOST_TEST(judge(story).violated() == "");
  }
}

BOOST_AUTO_TEST_CASE(of_a_journal_that_is_not_there_nothing_is_claimed) {
  JournalBuilder story(3);
  for (std::uint32_t id : {1U, 2U}) {
    story.recovers(id);
    story.joins(id, 3, {1, NodeId{3}});
    story.starts(id);
  }
  story.wait(bound(story));
  story.step(1, Expired{});
  const Judgement judgement = judge(story, "");
  BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 4u);  // 1a, 1b, 2 and works-apart
  for (const verify::NotClaimed& time : judgement.not_claimed)
    BOOST_TEST(time.why == "there is no journal of node 3");
  BOOST_TEST(std::get<verify::NotClaimed>(judgement.of("2")).why ==
             "there is no journal of node 3");
  BOOST_TEST(judgement.outcome.undecided ==
             "not all nodes were checked: there is no journal of node 3, which others heard");
}

BOOST_AUTO_TEST_CASE(one_journal_of_several_decides_nothing) {
  JournalBuilder story = formed();
  std::erase_if(story.lines, [](const journal::Line& line) {
    const auto* header = std::get_if<journal::Header>(&line);
    const auto* step = std::get_if<journal::Step>(&line);
    return !(header && header->node == NodeId{2}) && !(step && step->stamp.node == NodeId{2});
  });
  const Judgement judgement = judge(story, "");
  for (const char* assertion : {"1a", "1b", "2", "works-apart"})
    BOOST_TEST(!judgement.holds(assertion), assertion);
  BOOST_TEST(judgement.outcome.undecided ==
             "nodes cannot be compared: there is no journal of nodes 1, 3");
  BOOST_TEST(!judgement.outcome.holds());
}

// The journal of node 3 was copied too early: letters of node 3 arrive long after its last line.
struct EndsEarly : Formed {
  void hear_of_3(Incarnation life) {
    story.wait(2 * story.config().timings.T);
    story.step(1, Received{{NodeId{3}, life, NodeId{1}, CallNumber{77}, AreYouThere{}}});
  }
  void is_named() {
    story.wait(bound(story));
    story.reform({1, 2});  // no line says that node 3 is in a group
    story.wait(bound(story));
    story.step(1, Expired{});
    const Judgement judgement = judge(story, "");
    BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 4u);
    BOOST_TEST(judgement.not_claimed.front().why ==
               "the journal of node 3 ends too early: later letters of it arrived");
  }
};

BOOST_FIXTURE_TEST_CASE(a_journal_that_ends_before_its_letters_arrive_is_named, EndsEarly) {
  hear_of_3(Incarnation{1});
  is_named();
}

// Node 3 was killed and came back twice. The journal has no line of its second life.
BOOST_FIXTURE_TEST_CASE(a_life_between_two_that_is_not_there_is_named, EndsEarly) {
  story.fault(FaultKind::killed, 3);
  story.wait(bound(story));
  hear_of_3(Incarnation{2});
  story.wait(bound(story));
  story.reform({1, 2});
  ++story[3].life.value;
  story.recovers(3);
  const Judgement judgement = judge(story, "");
  BOOST_TEST_REQUIRE(!judgement.not_claimed.empty());
  BOOST_TEST(
      judgement.not_claimed.front().why ==
      "a life of node 3 is not in the journal of that node, but letters of that life arrived");
}

BOOST_FIXTURE_TEST_CASE(a_journal_that_ends_before_the_next_life_is_named, EndsEarly) {
  story.fault(FaultKind::killed, 3);
  hear_of_3(Incarnation{2});
  is_named();
}

BOOST_AUTO_TEST_SUITE_END()

// --- Cuts

BOOST_AUTO_TEST_SUITE(cuts)

// Node 3 is cut off, and nodes 1 and 2 form a group of their own. Then the cut is healed, and all
// become one group.
JournalBuilder cut_and_healed() {
  JournalBuilder story = formed();
  story.fault(FaultKind::cut, 3, NodeSet{NodeId{1}, NodeId{2}});
  story.reform({1, 2});
  story.wait(bound(story));
  story.fault(FaultKind::healed, 3, NodeSet{NodeId{1}, NodeId{2}});
  story.step(1, Expired{});
  story.reform({1, 2, 3});
  return story;
}

BOOST_AUTO_TEST_CASE(nothing_is_claimed_from_cut_to_one_group_after_healed) {
  const JournalBuilder story = cut_and_healed();
  const Judgement judgement = judge(story, "");
  // One of the four violations concerns the promise P4 of the hook grammar.
  BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 4u);
  for (const verify::NotClaimed& time : judgement.not_claimed) {
    BOOST_TEST(time.why == "assumption 8: node 3 cut off");
    BOOST_TEST(time.of_some == (time.assertion == "hook-grammar"));
    BOOST_TEST(time.to - time.from > bound(story));
  }
}

BOOST_AUTO_TEST_CASE(what_is_asked_for_is_judged_in_cuts_too) {
  const JournalBuilder story = cut_and_healed();
  const Judgement judgement = judge_asked(story, {"works-apart"});
  BOOST_TEST(judgement.violated() == "works-apart");
  for (const verify::NotClaimed& time : judgement.not_claimed)
    BOOST_TEST(time.assertion != "works-apart");
}

BOOST_AUTO_TEST_CASE(times_that_overlap_count_once) {
  verify::Unclaimed unclaimed;
  const auto add = [&](int from, int to, const char* cause, bool of_some) {
    unclaimed.add({"1a", Duration(from), Duration(to), "", {}, cause, of_some});
  };
  add(10, 20, "cut", false);
  add(15, 30, "cut", false);
  add(28, 40, "pause", true);
  const auto times = unclaimed.times().at("1a");
  BOOST_TEST(times.of_all.count() == 20);
  BOOST_TEST(times.of_some.count() == 10);
  BOOST_TEST(times.causes.at("cut").count() == 20);
  BOOST_TEST(times.causes.at("pause").count() == 12);
}

// A cut ends the time without faults, since the nodes cannot agree during it.
BOOST_AUTO_TEST_CASE(assertion_2_is_not_checked_while_nodes_are_cut_off) {
  BOOST_TEST(!judge(cut_and_healed()).holds("2"));
}

BOOST_AUTO_TEST_CASE(all_is_claimed_again_afterwards) {
  JournalBuilder story = cut_and_healed();
  story.is_halted(1);
  story.joins(1, 2, {9, NodeId{2}});
  BOOST_TEST(judge(story).violated() == "1a");
}

BOOST_FIXTURE_TEST_CASE(nothing_is_claimed_before_all_is_healed, Formed) {
  story.fault(FaultKind::cut, 3, NodeSet{NodeId{1}, NodeId{2}});
  story.reform({1, 2});
  story.fault(FaultKind::healed, 3, NodeSet{NodeId{1}});
  story.fault(FaultKind::healed, 2, NodeSet{NodeId{1}});
  story.reform({1, 2, 3});
  BOOST_TEST(judge(story).not_claimed.size() == 4u);
  story.is_halted(1);
  story.joins(1, 2, {9, NodeId{2}});
  BOOST_TEST(judge(story).violated() == "");
  story.fault(FaultKind::healed);
  story.is_halted(1);
  BOOST_TEST(judge(story).not_claimed.front().to == story.now());
}

// A wiped coordinator gives a new group an old number. A node that was cut off is still in the old
// group with that number. The two groups have the same number, but they are different groups.
BOOST_AUTO_TEST_CASE(one_number_is_not_one_group_where_its_coordinator_was_wiped) {
  for (const bool wiped : {true, false}) {
    JournalBuilder story = formed();
    const GroupNumber group = *story[3].view.group;
    story.fault(FaultKind::cut, 3, NodeSet{NodeId{2}});
    for (std::uint32_t id : {1U, 3U}) story.fault(FaultKind::power_cut, id);
    if (wiped) story.fault(FaultKind::wiped, 3);
    if (wiped) story[3].safe = {};
    story.recovers(3);
    story.joins(3, 3, group);
    story.fault(FaultKind::healed);
    story.starts(3, "another task");
    BOOST_TEST(judge(story).violated() == (wiped ? "" : "1b group-grows"));
  }
}

// A restored store and wiped stores may contradict each other until all nodes have been in one
// group again. In the first case node 3 cannot be heard when nodes 1 and 2 form a group.
BOOST_AUTO_TEST_CASE(stores_lost_beside_a_restored_one_count_again_once_all_are_one_group) {
  for (const bool all : {false, true}) {
    JournalBuilder story = formed();
    for (std::uint32_t id : {2U, 3U}) story.fault(FaultKind::power_cut, id);
    story.fault(FaultKind::restored, 2);
    story.fault(FaultKind::wiped, 3);
    story.is_halted(1);
    story.recovers(2);
    if (all) story.recovers(3);
    if (all)
      story.form({1, 2, 3});
    else
      story.form({1, 2});
    if (all)
      story.is_halted(3);
    else
      story.recovers(3);
    story.joins(3, 3, {40, NodeId{3}});
    story.starts(3, "another task");
    BOOST_TEST(judge(story).violated() == (all ? "1b works-apart" : ""));
  }
}

// Each of two coordinators believes that all is well (docs/protocols/bully/findings.md, "A split
// does not heal by itself").
BOOST_FIXTURE_TEST_CASE(a_split_brain_that_does_not_heal_violates_assertion_2, Formed) {
  story.fault(FaultKind::cut, 3);
  story.reform({1, 2});
  story.fault(FaultKind::healed, 3);
  story.wait(bound(story));
  story.step(1, Expired{});
  BOOST_TEST(judge(story).violated() == "2");
}

BOOST_AUTO_TEST_SUITE_END()
