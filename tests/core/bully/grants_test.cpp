#include "clocked.hpp"

/// docs/options/quorum.md, sentence by sentence: one node, whose others and whose clock the test
/// plays itself.

namespace muster::test {
namespace {

const ByQuorum grant{std::nullopt, true, false, {}};

ByQuorum tells(std::vector<Rights> rights) {
  return {std::nullopt, true, false, std::move(rights)};
}

/// Node 3 of three at its election point: 1 is out of reach, and this is what 2 has told.
Clocked told_by_2(std::vector<Rights> rights) {
  Clocked node(3, 3);
  node.long_after();
  node.elected_with({id(2)});
  node.unanswered(1);  // the question after the election point: silence proves nothing
  node.answered(2, Joined{}, tells(std::move(rights)));
  return node;
}

/// Node 3 of three, Normal, with 1 and 2 for members.
Clocked coordinator_of_all() {
  Clocked node(3, 3);
  node.elected_with({id(1), id(2)});
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Joined{}, grant);
  node.end_hook();
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Installed{}, grant);
  node.end_hook();
  BOOST_REQUIRE((node.state.s == Status::Normal));
  return node;
}

using Nodes = std::vector<std::uint32_t>;

BOOST_AUTO_TEST_SUITE(grants)

// --- Member's right

BOOST_AUTO_TEST_CASE(a_member_may_work_until_so_long_after_it_sent_the_answer_that_was_heard) {
  Clocked node(1, 3);
  const Moment joined = node.now;
  const CallNumber heard = node.joins(3);
  node.now += 30ms;
  node.ready(3, heard);
  BOOST_TEST_REQUIRE(node.asked<Right>());
  BOOST_TEST((node.asked<Right>()->until == joined + L));
  BOOST_TEST(node.asked<Start>());
}

BOOST_AUTO_TEST_CASE(a_ready_that_comes_later_is_refused) {
  Clocked node(1, 3);
  const CallNumber heard = node.joins(3);
  node.now += L;
  node.ready(3, heard);
  BOOST_TEST(!node.asked<Start>());
  BOOST_TEST(node.answer<Refused>());
}

BOOST_AUTO_TEST_CASE(a_ready_that_names_no_answer_is_refused) {
  Clocked node(1, 3);
  node.joins(3);
  node.called(3, Ready{{id(3), {1}, 7}, {1}, node.group(3), {"task"}});
  BOOST_TEST(!node.asked<Start>());
}

BOOST_AUTO_TEST_CASE(a_question_that_names_an_answer_lengthens_its_right) {
  Clocked node(1, 3);
  CallNumber heard = node.works_for(3);
  for (int i = 0; i < 10; ++i) {
    node.now += check;
    const Moment answered = node.now;
    heard = node.asks(3, heard);
    BOOST_TEST(node.answer<Normality>()->by_quorum->grants);
    node.now += check;
    node.asks(3, heard);
    BOOST_TEST((node.state.by_options.grants.right == answered + L));
  }
  BOOST_TEST(node.works());
}

BOOST_AUTO_TEST_CASE(a_question_that_names_none_does_not_and_here_neither) {
  Clocked node(1, 3);
  node.works_for(3);
  const Moment right = node.state.by_options.grants.right;
  node.now += check;
  node.called(3, AreYouNormal{node.group(3)});
  node.called(3, AreYouThere{});
  BOOST_TEST((node.state.by_options.grants.right == right));
}

// --- When a right ends

BOOST_AUTO_TEST_CASE(at_its_end_stop_begins_before_whatever_else_has_happened) {
  Clocked node(1, 3);
  node.works_for(3);
  const Moment end = node.state.by_options.grants.right;
  node.now = end + 300ms;  // the machine slept
  node.called(2, AreYouThere{});
  const auto* stop = node.asked<Stop>();
  BOOST_TEST_REQUIRE(stop);
  BOOST_TEST((stop->cause.reason == StopReason::right_over));
  BOOST_TEST((stop->by.at == end + stop_deadline));  // of that end, not of now
  BOOST_TEST((node.state.s == Status::Election));
  BOOST_TEST(!node.state.h.has_value());
}

BOOST_AUTO_TEST_CASE(the_timer_right_is_there_for_it) {
  Clocked node(1, 3);
  node.works_for(3);
  BOOST_TEST_REQUIRE(node.state.by_options.grants.armed.has_value());
  node.now = node.state.by_options.grants.right;
  node.give(Expired{Timer::right});
  BOOST_TEST(node.asked<Stop>());
}

// --- Coordinator's right

BOOST_AUTO_TEST_CASE(ready_waits_for_the_grants_of_a_majority) {
  Clocked node(5, 5);
  node.elected_with({id(1), id(2)});
  node.long_after();
  for (std::uint32_t j : {3u, 4u}) node.unanswered(j, Unheard::refused);
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Joined{}, grant);  // asked for an hour ago
  BOOST_TEST_REQUIRE((node.state.application == Activity::Reorganizing));
  node.end_hook();
  BOOST_TEST(node.sent<Ready>().empty());
  node.give(Expired{Timer::check});
  BOOST_TEST(node.sent<AreYouNormal>() == (Nodes{1, 2}));
  node.answered(1, Normality{false}, grant);
  BOOST_TEST(node.sent<Ready>().empty());
  node.answered(2, Normality{false}, grant);
  BOOST_TEST(node.sent<Ready>() == (Nodes{1, 2}));
  BOOST_TEST((node.asked<Right>()->until == node.now + L));
}

BOOST_AUTO_TEST_CASE(it_names_what_it_has_heard) {
  Clocked node(3, 3);
  node.elected_with({id(1), id(2)});
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Joined{}, grant);
  const CallNumber joined = node.out.at(id(1)).call;
  node.end_hook();
  BOOST_TEST_REQUIRE(node.out.at(id(1)).by_quorum.has_value());
  BOOST_TEST((node.out.at(id(1)).by_quorum->heard == joined));
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_grant_any_more_has_left) {
  Clocked node(3, 3);
  node.elected_with({id(1), id(2)});
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Joined{}, grant);
  node.give(Expired{Timer::check});
  node.answered(1, Normality{false});
  BOOST_TEST((node.state.s == Status::Election));
}

// --- The wait

BOOST_AUTO_TEST_CASE(whoever_is_out_of_reach_has_ceased_before_reorganize) {
  Clocked node = told_by_2({Rights{GroupNumber{9, id(1)}, 80ms, 200ms}});
  BOOST_TEST(!node.asked<Reorganize>());
  node.now += 80ms + stop_deadline;  // its own life before knows of nobody: it is an hour old
  node.give(Expired{Timer::right});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(a_machine_that_has_refused_since_is_waited_for_no_longer) {
  Clocked node(3, 3);
  node.long_after();
  node.elected_with({id(2)});
  node.answered(2, Joined{}, tells({Rights{GroupNumber{9, id(1)}, 80ms, 200ms}}));
  BOOST_TEST(!node.asked<Reorganize>());
  node.unanswered(1, Unheard::refused);
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(an_older_proof_counts_for_nothing) {
  Clocked node(3, 3);
  node.long_after();
  node.give(Failed{id(1), {1}});
  node.elected_with({id(2)});
  node.unanswered(1);
  node.answered(2, Joined{}, tells({Rights{GroupNumber{9, id(1)}, 80ms, 200ms}}));
  BOOST_TEST(!node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(the_least_is_taken_that_a_majority_stays_within) {
  Clocked node(5, 5);
  node.long_after();
  node.elected_with({id(2), id(3), id(4)});
  node.unanswered(1);
  const GroupNumber old{9, id(1)};
  node.answered(2, Joined{}, tells({Rights{old, 10ms, 10ms}}));
  node.answered(3, Joined{}, tells({Rights{old, 70ms, 70ms}}));
  node.answered(4, Joined{}, tells({Rights{old, 240ms, 240ms}}));
  node.now += 70ms + stop_deadline - 1ns;  // 5 itself, 2 and 3 are three of five
  node.give(Expired{Timer::right});
  BOOST_TEST(!node.asked<Reorganize>());
  node.now += 1ns;
  node.give(Expired{Timer::right});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_is_there_knows_best_of_its_group) {
  const GroupNumber old{9, id(2)};  // in which 2 has made nobody ready
  const Clocked node = told_by_2({Rights{old, 90ms, 240ms}, Rights{old, 90ms, {}, true, {}}});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(nobody_else_s_word_does) {
  const GroupNumber old{9, id(1)};
  const Clocked node = told_by_2({Rights{old, 90ms, 240ms}, Rights{old, 90ms, {}, true, {}}});
  BOOST_TEST(!node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(a_new_life_may_have_granted_just_before) {
  Clocked node(3, 3);
  node.elected_with({id(2)});
  node.unanswered(1);
  const ByQuorum new_life = tells({Rights{std::nullopt, 2 * L, 2 * L}});
  node.answered(2, Joined{}, new_life);
  BOOST_TEST(!node.asked<Reorganize>());
  node.now += 2 * L + stop_deadline;
  node.give(Expired{Timer::right});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(and_so_it_tells_when_it_joins) {
  Clocked node(1, 3);
  node.now += 100ms;
  node.joins(3);
  const Rights anybody{std::nullopt, 2 * L - 100ms, 2 * L - 100ms};
  BOOST_TEST((node.answer<Joined>()->by_quorum->rights == std::vector{anybody}));
}

BOOST_AUTO_TEST_CASE(a_letter_that_lies_holds_nobody_up_for_ever) {
  Clocked node = told_by_2({Rights{GroupNumber{9, id(1)}, 1000h, Duration::max()}});
  BOOST_TEST(!node.asked<Reorganize>());
  node.now += 2 * L + stop_deadline;
  node.give(Expired{Timer::right});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(who_joins_tells_what_it_knows) {
  Clocked node(1, 3);
  node.long_after();
  node.joins(3);
  node.now += 100ms;
  node.called(2, Halt{{id(2), {1}, 1}});
  node.called(2, NewCoordinator{{id(2), {1}, 1}, {1}, {200, id(2)}});
  const Letter* joined = node.answer<Joined>();
  BOOST_TEST_REQUIRE(joined);
  const Rights expected{node.group(3), L - 100ms, 2 * L - 100ms};
  BOOST_TEST((joined->by_quorum->rights == std::vector{expected}));
}

// --- Asking before halting

BOOST_AUTO_TEST_CASE(a_candidate_asks_all_before_it_halts_anybody) {
  Clocked node(3, 3);
  BOOST_TEST(node.sent<AreYouFree>() == (Nodes{1, 2}));
  BOOST_TEST(node.sent<Halt>().empty());
  BOOST_TEST(node.answered(1, Free{}).size() > 0u);
  BOOST_TEST(node.sent<Halt>() == (Nodes{2}));  // itself and 1 are a majority
}

BOOST_AUTO_TEST_CASE(who_has_granted_a_higher_node_is_not_free) {
  Clocked node(1, 3);
  node.long_after();
  node.joins(3);
  node.now += 100ms;
  node.called(2, AreYouFree{});
  const Letter* answer = node.answer<Free>();
  const auto& result = std::get<Answer>(answer->message).result;
  BOOST_TEST((std::get<Free>(result).after == L - 100ms));
  node.called(3, AreYouFree{});
  const auto& own = std::get<Answer>(node.answer<Free>()->message).result;
  BOOST_TEST((std::get<Free>(own).after == 0ms));  // nobody is above 3
}

BOOST_AUTO_TEST_CASE(who_is_not_free_is_not_halted_until_it_is) {
  Clocked node(3, 3);
  node.answered(1, Free{200ms});
  node.answered(2, Free{120ms});
  BOOST_TEST(node.runs<bully::AwaitingMajority>());
  BOOST_TEST(node.sent<Halt>().empty());
  node.now += 120ms;
  node.give(Expired{Timer::right});
  BOOST_TEST(node.sent<AreYouFree>() == (Nodes{1, 2}));
}

BOOST_AUTO_TEST_CASE(a_proven_death_asks_nobody) {
  Clocked node(2, 3);
  node.long_after();
  node.called(3, Halt{{id(3), {1}, 7}});
  node.end_hook();
  node.give(Failed{id(3), {1}});
  node.unanswered(3, Unheard::refused);
  BOOST_TEST(node.sent<Halt>() == (Nodes{1}));
}

// --- Awaiting a majority

BOOST_AUTO_TEST_CASE(who_awaits_a_majority_says_so_and_is_in_no_group) {
  Clocked node(3, 3);
  node.unanswered(1);
  node.unanswered(2);
  BOOST_TEST_REQUIRE(node.runs<bully::AwaitingMajority>());
  node.called(1, AreYouThere{});  // whom it has not heard: it tries at once
  BOOST_TEST(node.sent<AreYouFree>() == (Nodes{1, 2}));
  node.answered(1, Free{200ms});
  node.answered(2, Free{200ms});
  node.called(1, AreYouThere{});
  BOOST_TEST(node.answer<Here>()->by_quorum->awaits);
  BOOST_TEST(!node.state.h.has_value());
}

BOOST_AUTO_TEST_CASE(its_here_is_silence_to_a_lower_candidate) {
  Clocked node(2, 3);
  BOOST_TEST_REQUIRE(node.sent<AreYouThere>() == (Nodes{3}));
  node.answered(3, Here{}, ByQuorum{std::nullopt, false, true, {}});
  BOOST_TEST(node.sent<AreYouFree>() == (Nodes{1}));
}

// --- A silent member

BOOST_AUTO_TEST_CASE(a_coordinator_works_on_while_a_silent_member_has_its_right) {
  Clocked node = coordinator_of_all();
  const Moment heard = node.now;
  while (node.now + check < heard + L + stop_deadline) {
    node.now += check;
    node.give(Expired{Timer::check});
    node.answered(2, Normality{true}, grant);
    node.unanswered(1);
    BOOST_TEST_REQUIRE((node.state.s == Status::Normal));
    BOOST_TEST_REQUIRE(!node.runs<bully::AskingFree>());
  }
  node.now += 2 * check;
  node.give(Expired{Timer::check});
  node.answered(2, Normality{true}, grant);
  node.unanswered(1);
  BOOST_TEST(node.runs<bully::AskingFree>());
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_a_majority_does_not_answer_stops) {
  Clocked node = coordinator_of_all();
  node.now += L;
  node.give(Expired{Timer::right});
  BOOST_TEST_REQUIRE(node.asked<Stop>());
  BOOST_TEST((node.asked<Stop>()->cause.reason == StopReason::right_over));
}

// --- What gives it up

BOOST_AUTO_TEST_CASE(a_pause_gives_up_the_right_and_no_grant) {
  Clocked node(1, 3);
  node.long_after();
  node.works_for(3);
  node.now += 60ms;
  node.give(Paused{60ms});
  BOOST_TEST((node.state.by_options.grants.right == 0ms));
  node.called(2, AreYouFree{});
  const auto& result = std::get<Answer>(node.answer<Free>()->message).result;
  BOOST_TEST((std::get<Free>(result).after == L - 60ms));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
