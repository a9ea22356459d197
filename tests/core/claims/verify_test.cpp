#include "judgement.hpp"

/// The verifier on journals that the test makes: one without a violation, and then one violation of
/// each rule.

using namespace muster;
using namespace muster::test;

BOOST_AUTO_TEST_CASE(a_story_that_holds) {
  JournalBuilder story = reformed();
  story.wait(bound(story));
  story.recovers(3);
  for (std::uint32_t id : {1U, 2U}) story.is_halted(id);
  story.form({1, 2, 3});
  story.wait(bound(story));
  story.fault(FaultKind::terminated, 1);
  const Judgement judgement = judge(story, "");
  for (const char* assertion :
       {"1a", "1b", "2", "works-apart", "group-grows", "durable", "hook-grammar"})
    BOOST_TEST(judgement.holds(assertion), assertion);
  BOOST_TEST(judgement.outcome.holds());
  BOOST_TEST(judgement.not_claimed.empty());
  BOOST_TEST(judgement.outcome.lives == 4u);
  BOOST_TEST(judgement.outcome.lines == story.lines.size());
  BOOST_TEST(std::get<verify::Holds>(judgement.of("2")).bound == bound(story));
}

// --- Statements of an application

BOOST_AUTO_TEST_SUITE(applications)

BOOST_FIXTURE_TEST_CASE(a_note_changes_no_verdict, Formed) {
  story.says(1, journal::RemarkKind::note, "invoice 1-1");
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.outcome.holds());
  BOOST_TEST(judgement.outcome.missing_lines == 0u);
}

BOOST_FIXTURE_TEST_CASE(what_it_says_is_broken_is_violated_each_time, Formed) {
  story.says(2, journal::RemarkKind::broken, "invoice 1-1 twice");
  story.says(1, journal::RemarkKind::broken, "invoice 1-2 twice");
  violates(story, "application", "node 2: invoice 1-1 twice");
  BOOST_TEST(judge(story).violations("application") == 2u);
}

// The application makes this statement itself. A cut or a pause excuses a claim of the protocol,
// but not such a statement.
BOOST_FIXTURE_TEST_CASE(what_it_says_in_a_cut_is_judged_too, Formed) {
  story.fault(FaultKind::cut, 1, NodeSet{NodeId{2}, NodeId{3}});
  story.says(1, journal::RemarkKind::broken, "two lamps shine");
  violates(story, "application", "node 1: two lamps shine");
}

BOOST_FIXTURE_TEST_CASE(a_check_of_all_nodes_is_nobodys_line, Formed) {
  story.lines.emplace_back(journal::Finding{story.now(), "two lamps shine"});
  violates(story, "application", "two lamps shine");
}

BOOST_AUTO_TEST_SUITE_END()

// --- Assertions about states

BOOST_AUTO_TEST_SUITE(states)

BOOST_FIXTURE_TEST_CASE(two_coordinators_violate_1a_where_it_begins, Formed) {
  story.is_halted(1);
  const std::size_t before = story.lines.size();
  story.joins(1, 2, {9, NodeId{2}});
  const Judgement judgement = judge(story, "1a");
  const auto& violated = std::get<verify::Violated>(judgement.of("1a"));
  BOOST_TEST(violated.disagreement.why == "node 1 Reorganization c=2, node 2 Normal c=3");
  BOOST_TEST(violated.place.journal == "story");
  BOOST_TEST(violated.place.line == before + 1);
  BOOST_TEST(violated.t.count() == journal::time_of(story.lines[before]).count());
  BOOST_TEST(violated.violations == 1u);
  BOOST_TEST(!judgement.outcome.holds());
}

BOOST_FIXTURE_TEST_CASE(a_violation_counts_once_each_time_that_it_begins, Formed) {
  for (int round = 0; round < 2; ++round) {
    story.is_halted(1);
    story.joins(1, 2, {9, NodeId{2}});
    story.step(1, Expired{});
  }
  BOOST_TEST(judge(story).violations("1a") == 2u);
}

BOOST_AUTO_TEST_CASE(two_definitions_violate_1b) {
  JournalBuilder story = recovered(2);
  for (std::uint32_t id : {1U, 2U}) story.joins(id, 2, {1, NodeId{2}});
  story.reorganizes(2, {1, 2});
  story.starts(1);
  story.starts(2, "another task");
  BOOST_TEST(judge(story).violated() == "1b");
}

// The node's stop has not ended when the others start.
BOOST_FIXTURE_TEST_CASE(work_for_two_groups_violates_works_apart, Formed) {
  story.enter_election(1);
  story.step(1, Expired{}, {story.stop_action(1)});
  story.permits(1, PermitsEdge::revoked);
  story.reform({2, 3});
  violates(story, "works-apart", "node 1 works for group 1.3, node 2 works for group 2.3");
}

BOOST_FIXTURE_TEST_CASE(a_node_works_from_the_beginning_of_start_to_the_end_of_stop, Formed) {
  story.enter_election(1);
  story.step(1, Expired{}, {story.stop_action(1)});
  story.permits(1, PermitsEdge::revoked);
  story.hook(1, Hook::stop, Edge::begin);
  for (std::uint32_t id : {2U, 3U}) story.is_halted(id);
  for (std::uint32_t id : {2U, 3U}) story.joins(id, 3, {2, NodeId{3}});
  story.reorganizes(3, {2, 3});
  JournalBuilder late = story;
  late.starts(2);  // from the beginning of `start`
  BOOST_TEST(judge(late).violated() == "works-apart");
  story.hook(1, Hook::stop, Edge::end);
  story.starts(2);
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_SUITE_END()

// --- Nodes that are down

BOOST_AUTO_TEST_SUITE(down)

// After each of these faults node 3 is down. The verifier does not compare node 3's old status with
// the new group of nodes 1 and 2.
BOOST_AUTO_TEST_CASE(from_killed_power_cut_or_ended) {
  for (FaultKind kind : {FaultKind::killed, FaultKind::power_cut, FaultKind::ended}) {
    JournalBuilder story = formed();
    story.fault(kind, 3);
    story.reform({1, 2});
    BOOST_TEST(judge(story).violated() == "");
  }
  JournalBuilder story = formed();
  story.ends(3, 76);
  story.reform({1, 2});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_CASE(but_not_from_terminated_wiped_or_reset) {
  for (FaultKind kind : {FaultKind::terminated, FaultKind::wiped, FaultKind::reset}) {
    JournalBuilder story = formed();
    story.fault(kind, 3);
    story.reform({1, 2});
    BOOST_TEST(judge(story).violated() == "1a works-apart");
  }
}

// No fault line says that node 3 was killed. But other lines show that its life is over: its next
// life begins, or another node gets the event Failed. Then no assertion is claimed about that life
// after its last line.
JournalBuilder abandoned() {
  JournalBuilder story = formed();
  story.wait(moment);
  story.reform({1, 2});
  return story;
}

BOOST_AUTO_TEST_CASE(from_its_last_line_where_the_next_life_begins) {
  JournalBuilder story = abandoned();
  BOOST_TEST(judge(story).violated() == "1a works-apart");
  story.recovers(3);
  const Judgement judgement = judge(story, "");
  BOOST_TEST(judgement.holds("works-apart"));
}

BOOST_AUTO_TEST_CASE(from_its_last_line_where_another_was_told_that_it_failed) {
  JournalBuilder story = abandoned();
  story.step(1, Failed{NodeId{3}, {2}});  // a life that never was
  BOOST_TEST(judge(story).violated() == "1a works-apart");
  story.step(1, Failed{NodeId{3}, {1}});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_FIXTURE_TEST_CASE(but_not_where_it_says_more_after_it_was_called_failed, Formed) {
  story.step(1, Failed{NodeId{3}, {1}});
  story.reform({1, 2});
  story.step(3, Expired{Timer::check});
  BOOST_TEST(judge(story).violated() == "1a works-apart");
}

BOOST_FIXTURE_TEST_CASE(what_it_did_before_its_last_line_counts, Formed) {
  story.reform({1, 2});
  story.step(3, Expired{Timer::check});
  story.recovers(3);
  BOOST_TEST(judge(story).violated() == "1a works-apart");
}

// The journals end with the first line of node 3's next life.
BOOST_FIXTURE_TEST_CASE(a_life_lasts_to_the_next_first_line, Formed) {
  story.recovers(3);
  story.reform({1, 2});
  BOOST_TEST(judge(story).violated() == "");
  story.lines.pop_back();
  story.begins(3);
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_FIXTURE_TEST_CASE(everybody_by_a_power_cut_without_a_name, Formed) {
  story.fault(FaultKind::power_cut);
  story.recovers(1);
  story.form({1});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_FIXTURE_TEST_CASE(later_lines_of_that_life_no_longer_count, Formed) {
  story.fault(FaultKind::killed, 3);
  for (std::uint32_t id : {1U, 2U}) story.is_halted(id);
  const std::uint64_t checked = judge(story).checked("hook-grammar");
  story.step(3, Expired{});                 // still as a Normal coordinator
  story.hook(3, Hook::start, Edge::begin);  // this violates the grammar
  BOOST_TEST(judge(story).violated() == "");
  BOOST_TEST(judge(story).checked("hook-grammar") == checked);
  JournalBuilder without = story;
  std::erase_if(without.lines, [](const journal::Line& line) {
    return std::holds_alternative<journal::Fault>(line);
  });
  BOOST_TEST(judge(without).violated() == "hook-grammar");
}

BOOST_FIXTURE_TEST_CASE(a_segment_of_a_life_that_is_over_does_not_bring_it_back, Formed) {
  story.fault(FaultKind::killed, 3);
  for (std::uint32_t id : {1U, 2U}) story.is_halted(id);
  bully::State state;
  state.s = Status::Reorganization;
  state.c = ElectionId{NodeId{3}, {}, 1};
  story.goes_on(3, state);
  story.form({1, 2});
  BOOST_TEST(judge(story).violated() == "");
}

// The second node goes on alone, and the first one never comes back.
BOOST_AUTO_TEST_CASE(one_of_two_for_ever) {
  JournalBuilder story = recovered(2);
  story.form({1, 2});
  story.fault(FaultKind::killed, 2);
  story.is_halted(1);
  story.form({1});
  story.wait(bound(story));
  story.fault(FaultKind::terminated, 1);
  const Judgement judgement = judge(story, "");
  BOOST_TEST(judgement.checked("2") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
