#include "judgement.hpp"

/// The verifier on journals that the test makes: numbers, the order of events, and the journals
/// themselves.

using namespace muster;
using namespace muster::test;

struct Recovered2 {
  JournalBuilder story = recovered(2);
};

// --- Numbers and safe storage

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_FIXTURE_TEST_CASE(a_smaller_number_violates_group_grows, Formed) {
  for (std::uint32_t id : {1U, 2U, 3U}) story.is_halted(id);
  story.joins(1, 3, {0, NodeId{3}});
  violates(story, "group-grows", "node 1 accepted group 0.3 after group 1.3");
}

BOOST_FIXTURE_TEST_CASE(restarts_are_included, Formed) {
  story.fault(FaultKind::killed, 1);
  story.recovers(1);
  story.joins(1, 3, {0, NodeId{3}});
  BOOST_TEST(judge(story).violated() == "group-grows");
}

BOOST_FIXTURE_TEST_CASE(but_not_a_wiped_node, Formed) {
  story.fault(FaultKind::killed, 1);
  story.fault(FaultKind::wiped, 1);
  story[1].safe = {};
  story.recovers(1);
  story.joins(1, 3, {0, NodeId{3}});
  BOOST_TEST(judge(story).violated() == "");
}

// The node accepted a number above its limit, and the Save did not finish.
BOOST_FIXTURE_TEST_CASE(an_acceptance_counts_once_its_save_is_performed, Formed) {
  story.is_halted(1);
  story.joins(1, 3, {40, NodeId{3}}, true);
  JournalBuilder durable = story;
  story.lines.pop_back();
  story[1].safe.counter_limit = 0;
  for (JournalBuilder* each : {&story, &durable}) {
    each->fault(FaultKind::killed, 1);
    each->recovers(1);
    each->joins(1, 3, {39, NodeId{3}});
  }
  BOOST_TEST(judge(story).violated() == "");
  BOOST_TEST(judge(durable).violated() == "group-grows");
}

BOOST_FIXTURE_TEST_CASE(what_was_durable_survives, Formed) {
  story.fault(FaultKind::killed, 1);
  story[1].safe.assigned.reset();
  story.recovers(1);
  violates(story, "durable", "node 1 recovered no group, but group 1.3 was durable");
}

BOOST_AUTO_TEST_CASE(what_was_not_performed_may_be_there_or_not) {
  for (const bool kept : {false, true}) {
    JournalBuilder story = formed();
    story.is_halted(1);
    const SafeState before = story[1].safe;
    story.joins(1, 3, {40, NodeId{3}}, true);
    story.lines.pop_back();
    story.fault(FaultKind::killed, 1);
    if (!kept) story[1].safe = before;
    story.recovers(1);
    BOOST_TEST(judge(story).violated() == "");
  }
}

BOOST_AUTO_TEST_SUITE_END()

// --- Hook grammar over several nodes

BOOST_AUTO_TEST_SUITE(grammar)

BOOST_FIXTURE_TEST_CASE(a_line_out_of_order_is_told_with_its_node, Formed) {
  story.hook(2, Hook::start, Edge::begin);
  violates(story, "hook-grammar", "node 2: start (ticket 2) begins, but a stop is owed (P2)");
}

BOOST_FIXTURE_TEST_CASE(each_line_out_of_order_counts, Formed) {
  story.hook(2, Hook::start, Edge::begin);
  story.hook(1, Hook::start, Edge::begin);
  BOOST_TEST(judge(story).violations("hook-grammar") == 2u);
}

// P4: `reorganize` begins although a member's `stop` has not ended.
BOOST_AUTO_TEST_CASE(reorganize_begins_when_every_member_has_ceased) {
  JournalBuilder story(2);
  story.recovers(2);
  story.begins(1);
  story.step(1, Recovered{{story[1].life, 0, {}, {}, {}}}, {story.stop_action(1)});
  story.hook(1, Hook::stop, Edge::begin);
  story.joins(2, 2, {1, NodeId{2}});
  story.reorganizes(2, {1, 2});
  violates(story, "hook-grammar",
           "node 1: reorganize of node 2 begins, but node 1 has not ceased (P4)");
}

BOOST_AUTO_TEST_CASE(a_member_that_failed_need_not_have_ceased) {
  JournalBuilder story(2);
  story.recovers(2);
  story.begins(1);
  story.fault(FaultKind::killed, 1);
  story.joins(2, 2, {1, NodeId{2}});
  story.reorganizes(2, {1, 2});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_CASE(reorganize_is_told_what_the_members_reported) {
  for (const bool of_report : {true, false}) {
    JournalBuilder story = formed();
    for (journal::Line& line : story.lines)
      if (auto* edge = std::get_if<journal::HookEdge>(&line); edge && edge->members) {
        if (of_report)
          edge->members->front().report = Digest{7};
        else
          edge->members->front().group = GroupNumber{7, NodeId{1}};
      }
    BOOST_TEST(judge(story).why("hook-grammar") ==
               "node 1: reorganize of node 3 begins, but its report of node 1 is not the one that "
               "node gave (P4)");
  }
}

Letter halted_by_2() {
  return {NodeId{2}, Incarnation{1}, NodeId{1}, CallNumber{5},
          Halt{{NodeId{2}, Incarnation{1}, 1}}};
}

// P8: a letter that is sent after a Save arrives after the Save was performed.
JournalBuilder sent_after_a_save(bool performed_first) {
  JournalBuilder story = recovered(2);
  story.step(2, Expired{}, {Save{story[2].safe}, Send{halted_by_2(), Bound::answer}});
  if (performed_first) story.performed(2);
  story.step(1, Received{halted_by_2()});
  if (!performed_first) story.performed(2);
  return story;
}

BOOST_AUTO_TEST_CASE(a_letter_arrives_after_the_saves_before_it) {
  BOOST_TEST(judge(sent_after_a_save(true)).violated() == "");
  violates(sent_after_a_save(false), "hook-grammar",
           "node 1: Halt of node 2 arrived before the Save that precedes it was performed (P8)");
}

BOOST_FIXTURE_TEST_CASE(a_letter_that_was_sent_before_the_save_may_arrive_before_it, Recovered2) {
  story.step(2, Expired{}, {Send{halted_by_2(), Bound::answer}, Save{story[2].safe}});
  story.step(1, Received{halted_by_2()});
  story.performed(2);
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_FIXTURE_TEST_CASE(a_letter_of_a_life_that_failed_in_its_save_was_never_sent, Recovered2) {
  story.step(2, Expired{}, {Save{story[2].safe}, Send{halted_by_2(), Bound::answer}});
  story.fault(FaultKind::killed, 2);
  story.recovers(2);
  story.step(1, Received{halted_by_2()});
  BOOST_TEST(judge(story).violated() == "hook-grammar");
}

// The line `killed` has a time shortly before the signal. The Save and the letter have times
// between that of the line and that of the signal.
BOOST_FIXTURE_TEST_CASE(a_letter_of_the_last_moment_was_sent, Recovered2) {
  story.fault(FaultKind::killed, 2);
  story.step(2, Expired{}, {Save{story[2].safe}, Send{halted_by_2(), Bound::answer}});
  story.performed(2);
  story.step(1, Received{halted_by_2()});
  BOOST_TEST(judge(story).violated() == "");
}

// The receiver speaks wire version 2, which does not carry the group.
BOOST_FIXTURE_TEST_CASE(a_question_that_named_its_group_may_arrive_without_it, Recovered2) {
  const GroupNumber group{4, NodeId{1}};
  Letter sent{NodeId{2}, Incarnation{1}, NodeId{1}, CallNumber{5}, in_group::AreYouThere{group}};
  story.step(2, Expired{}, {Send{sent, Bound::answer}});
  sent.call = CallNumber{6};
  sent.message = Answer{Elsewhere{group}};
  story.step(2, Expired{}, {Send{sent, Bound::answer}});
  sent.message = Answer{Here{}};
  story.step(1, Received{sent});
  sent.call = CallNumber{5};
  sent.message = AreYouThere{};
  story.step(1, Received{sent});
  story.step(2, Expired{});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_FIXTURE_TEST_CASE(a_letter_that_nobody_sent_is_told_where_it_arrived, Recovered2) {
  story.step(1, Received{halted_by_2()});
  const Duration arrived = story.now();
  story.step(2, Expired{});
  const Judgement judgement = judge(story, "hook-grammar");
  BOOST_TEST(judgement.why("hook-grammar") ==
             "node 1: Halt of node 2 arrived but that node never sent it");
  BOOST_TEST(std::get<verify::Violated>(judgement.of("hook-grammar")).t == arrived);
}

BOOST_FIXTURE_TEST_CASE(of_a_letter_that_may_have_been_sent_nothing_is_claimed, Recovered2) {
  story.step(2, Expired{});
  story.step(1, Received{halted_by_2()});
  JournalBuilder sent_after_it_by_the_clock = story;
  sent_after_it_by_the_clock.step(2, Expired{}, {Send{halted_by_2(), Bound::answer}});
  sent_after_it_by_the_clock.step(2, Expired{});
  BOOST_TEST(judge(sent_after_it_by_the_clock).violated() == "");
  BOOST_TEST(judge(story).violated() == "");  // the last lines may be missing
  story.step(2, Expired{});
  BOOST_TEST(judge(story).violated() == "hook-grammar");
  story.lines.erase(story.lines.end() - 3);  // the line numbers show this gap
  BOOST_TEST(judge(story).violated() == "");
}

// P1: the answer to a Halt arrives after the permits were revoked.
BOOST_AUTO_TEST_CASE(an_answer_to_a_halt_arrives_after_permits_are_revoked) {
  for (const bool revoked_first : {true, false}) {
    JournalBuilder story = formed();
    const Letter answer{NodeId{1}, Incarnation{1}, NodeId{3}, CallNumber{5}, Answer{Halted{1}}};
    story.enter_election(1);
    story.step(1, Received{}, {story.stop_action(1), Send{answer, std::nullopt}});
    if (revoked_first) story.permits(1, PermitsEdge::revoked);
    story.step(3, Received{answer});
    const Judgement judgement = judge(story);
    BOOST_TEST(judgement.why("hook-grammar") ==
               (revoked_first
                    ? ""
                    : "node 3: Answer of node 1 arrived before its permits were revoked (P1)"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

// --- Journals

BOOST_AUTO_TEST_SUITE(journals)

BOOST_AUTO_TEST_CASE(in_which_there_is_nothing_to_check) {
  BOOST_TEST(judge(JournalBuilder(3)).outcome.is_empty());
  JournalBuilder faults(3);
  faults.fault(FaultKind::killed, 1);
  BOOST_TEST(judge(faults).outcome.is_empty());
  BOOST_TEST(!judge(faults).outcome.holds());
}

BOOST_FIXTURE_TEST_CASE(lines_before_the_first_line_of_their_life_are_refused, Formed) {
  story.lines.erase(story.lines.begin());
  BOOST_TEST(failure(story) == "node 1 in life 1: the first line of this life is missing");
}

BOOST_FIXTURE_TEST_CASE(lines_that_are_there_twice_are_refused, Formed) {
  story.lines.push_back(story.lines.back());
  BOOST_TEST(failure(story).find("comes after seq") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(lines_that_are_missing_are_counted_and_excuse_what_follows, Formed) {
  for (std::uint32_t id : {1U, 2U, 3U}) story.is_halted(id);
  std::size_t dropped = 0;
  std::erase_if(story.lines, [&](const journal::Line& line) {
    const auto* edge = std::get_if<journal::HookEdge>(&line);
    const bool drop = edge && edge->stamp.node == NodeId{1} && edge->hook == Hook::stop &&
                      edge->edge == Edge::begin;
    dropped += drop;
    return drop;
  });
  const Judgement judgement = judge(story, "");
  BOOST_TEST(judgement.outcome.missing_lines == dropped);
  BOOST_TEST(dropped == 2u);
}

// The older segments of a journal may have been removed.
BOOST_AUTO_TEST_CASE(may_begin_with_a_segment) {
  JournalBuilder story(1);
  story.goes_on(1, [] {
    bully::State state;
    state.s = Status::Normal;
    state.c = ElectionId{NodeId{1}, Incarnation{1}, 1};
    state.d = Definition{"task"};
    state.g = GroupNumber{4, NodeId{1}};
    state.application = Activity::Working;
    return state;
  }());
  story[1].started = GroupNumber{4, NodeId{1}};
  story[1].seq = 500;
  story.is_halted(1);
  const Judgement judgement = judge(story, "");
  BOOST_TEST(judgement.outcome.missing_lines == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_segment_that_goes_on_in_a_life_changes_nothing, Formed) {
  const std::uint64_t seq = story[1].seq;
  const auto ticket = story[1].ticket;
  const auto kept = story[1];
  story.goes_on(1, bully::State{});
  story[1] = kept;
  story[1].seq = seq;
  story[1].ticket = ticket;
  story.is_halted(1);
  BOOST_TEST(judge(story).violated() == "");
  BOOST_TEST(judge(story).outcome.lives == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

// --- Verdicts

BOOST_AUTO_TEST_CASE(verdicts_as_the_manual_shows_them) {
  const auto line = [](const verify::Verdict& verdict) {
    std::string out;
    verify::verdict_line(out, verdict);
    return out;
  };
  BOOST_TEST(line(verify::Holds{"1a", 182655, {}}) ==
             "{\"assertion\":\"1a\",\"holds\":true,\"checked\":182655}\n");
  BOOST_TEST(line(verify::Violated{"1a",
                                   9,
                                   1,
                                   Duration(2),
                                   {{NodeId{1}, NodeId{3}}, "node 1 says this"},
                                   {"counterexample.jsonl", 5},
                                   {}}) ==
             "{\"assertion\":\"1a\",\"holds\":false,\"at\":{\"t_ns\":2,\"nodes\":[1,3]},"
             "\"why\":\"node 1 says this\",\"journal\":\"counterexample.jsonl\",\"line\":5,"
             "\"checked\":9,\"violations\":1}\n");
  BOOST_TEST(line(verify::NotClaimed{
                 "1a", Duration(7), Duration(9), "assumption 8: node 5 cut off", {}}) ==
             "{\"assertion\":\"1a\",\"holds\":null,\"from_ns\":7,\"to_ns\":9,"
             "\"why\":\"assumption 8: node 5 cut off\"}\n");
  BOOST_TEST(line(verify::Holds{"2", 3, std::chrono::seconds(2)}) ==
             "{\"assertion\":\"2\",\"holds\":true,\"checked\":3,\"bound_ns\":2000000000}\n");
}
