#include "granting.hpp"

/// Tests the rules of docs/explanation/options/quorum.md one after the other, on one node. The test
/// plays the other nodes and the clock.

namespace muster::test {
namespace {

BOOST_AUTO_TEST_SUITE(grants)

// --- A member's right

BOOST_AUTO_TEST_CASE(a_member_may_work_until_so_long_after_it_sent_the_answer_that_was_heard) {
  Clocked node(1, 3);
  const Moment joined = node.now;
  const CallNumber heard = node.joins(3);
  node.now += 30ms;
  node.ready(3, heard);
  BOOST_TEST_REQUIRE(node.asked<Right>());
  BOOST_TEST(node.asked<Right>()->until == joined + L);
  BOOST_TEST(node.asked<Start>());
}

BOOST_FIXTURE_TEST_CASE(a_ready_that_comes_later_is_refused, Lowest) {
  const CallNumber heard = joins(3);
  now += L;
  ready(3, heard);
  BOOST_TEST(!asked<Start>());
  BOOST_TEST(answer<Refused>());
}

BOOST_FIXTURE_TEST_CASE(a_ready_that_names_no_answer_is_refused, Lowest) {
  joins(3);
  called(3, Ready{{id(3), {1}, 7}, {1}, group(3), {"task"}});
  BOOST_TEST(!asked<Start>());
}

BOOST_FIXTURE_TEST_CASE(a_question_that_names_an_answer_lengthens_its_right, Lowest) {
  CallNumber heard = works_for(3);
  for (int i = 0; i < 10; ++i) {
    now += check;
    const Moment answered = now;
    heard = asks(3, heard);
    BOOST_TEST(answer<Normality>()->by_quorum->grants);
    now += check;
    asks(3, heard);
    BOOST_TEST(state.by_options.grants.right == answered + L);
  }
  BOOST_TEST(works());
}

BOOST_FIXTURE_TEST_CASE(a_question_that_names_none_does_not_and_here_neither, Lowest) {
  works_for(3);
  const Moment right = state.by_options.grants.right;
  now += check;
  called(3, AreYouNormal{group(3)});
  called(3, AreYouThere{});
  BOOST_TEST(state.by_options.grants.right == right);
}

// --- The end of a right

BOOST_FIXTURE_TEST_CASE(at_its_end_stop_begins_before_whatever_else_has_happened, Lowest) {
  works_for(3);
  const Moment end = state.by_options.grants.right;
  now = end + 300ms;  // the machine slept
  called(2, AreYouThere{});
  const auto* stop = asked<Stop>();
  BOOST_TEST_REQUIRE(stop);
  BOOST_TEST(stop->cause.reason == StopReason::right_over);
  // The deadline is computed from the end of the right, not from now.
  BOOST_TEST(stop->by.at == end + stop_deadline);
  BOOST_TEST(state.s == Status::Election);
  BOOST_TEST(!state.h.has_value());
}

BOOST_FIXTURE_TEST_CASE(the_timer_right_is_there_for_it, Lowest) {
  works_for(3);
  BOOST_TEST_REQUIRE(state.by_options.grants.armed.has_value());
  now = state.by_options.grants.right;
  give(Expired{Timer::right});
  BOOST_TEST(asked<Stop>());
}

// --- The coordinator's right

BOOST_AUTO_TEST_CASE(ready_waits_for_the_grants_of_a_majority) {
  Clocked node(5, 5);
  node.elected_with({id(1), id(2)});
  node.long_after();
  for (std::uint32_t j : {3u, 4u}) node.unanswered(j, Unheard::refused);
  // The time of the grant begins at the call, which is an hour old. So the grant has expired.
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Joined{}, grant);
  BOOST_TEST_REQUIRE(node.state.application == Activity::Reorganizing);
  node.end_hook();
  BOOST_TEST(node.sent<Ready>().empty());
  node.give(Expired{Timer::check});
  BOOST_TEST(node.sent<AreYouNormal>() == (Nodes{1, 2}));
  node.answered(1, Normality{false}, grant);
  BOOST_TEST(node.sent<Ready>().empty());
  node.answered(2, Normality{false}, grant);
  BOOST_TEST(node.sent<Ready>() == (Nodes{1, 2}));
  BOOST_TEST(node.asked<Right>()->until == node.now + L);
}

BOOST_FIXTURE_TEST_CASE(a_call_that_nobody_awaits_brings_no_grant, Highest) {
  coordinates_all(*this);
  give(Expired{Timer::check});
  BOOST_TEST(state.by_options.grants.asked.size() == 2u);
  for (std::uint32_t j : {1u, 2u}) answered(j, Normality{true}, grant);
  BOOST_TEST(state.by_options.grants.asked.empty());
}

BOOST_FIXTURE_TEST_CASE(it_names_what_it_has_heard, Highest) {
  elected_with({id(1), id(2)});
  for (std::uint32_t j : {1u, 2u}) answered(j, Joined{}, grant);
  const CallNumber joined = out.at(id(1)).call;
  end_hook();
  BOOST_TEST_REQUIRE(out.at(id(1)).by_quorum.has_value());
  BOOST_TEST(out.at(id(1)).by_quorum->heard == joined);
}

BOOST_FIXTURE_TEST_CASE(a_member_that_does_not_grant_any_more_has_left, Highest) {
  elected_with({id(1), id(2)});
  for (std::uint32_t j : {1u, 2u}) answered(j, Joined{}, grant);
  give(Expired{Timer::check});
  answered(1, Normality{false});
  BOOST_TEST(state.s == Status::Election);
}

// --- Questions before Halts

BOOST_FIXTURE_TEST_CASE(a_candidate_asks_all_before_it_halts_anybody, Highest) {
  BOOST_TEST(sent<AreYouFree>() == (Nodes{1, 2}));
  BOOST_TEST(sent<Halt>().empty());
  BOOST_TEST(answered(1, Free{}).size() > 0u);
  BOOST_TEST(sent<Halt>() == (Nodes{2}));  // halts node 2 too, since nodes 3 and 1 are a majority
}

BOOST_FIXTURE_TEST_CASE(who_has_granted_a_higher_node_is_not_free, Lowest) {
  long_after();
  joins(3);
  now += 100ms;
  called(2, AreYouFree{});
  const auto& result = std::get<Answer>(answer<Free>()->message).result;
  BOOST_TEST(std::get<Free>(result).after == L - 100ms);
  called(3, AreYouFree{});
  const auto& own = std::get<Answer>(answer<Free>()->message).result;
  BOOST_TEST(std::get<Free>(own).after == 0ms);  // no node is above 3
}

BOOST_FIXTURE_TEST_CASE(who_is_not_free_is_not_halted_until_it_is, Highest) {
  answered(1, Free{200ms});
  answered(2, Free{120ms});
  BOOST_TEST(runs<bully::AwaitingMajority>());
  BOOST_TEST(sent<Halt>().empty());
  now += 120ms;
  give(Expired{Timer::right});
  BOOST_TEST(sent<AreYouFree>() == (Nodes{1, 2}));
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

// --- Waiting for a majority

BOOST_FIXTURE_TEST_CASE(who_awaits_a_majority_says_so_and_is_in_no_group, Highest) {
  unanswered(1);
  unanswered(2);
  BOOST_TEST_REQUIRE(runs<bully::AwaitingMajority>());
  called(1, AreYouThere{});  // the node hears a node that was silent, so it tries again at once
  BOOST_TEST(sent<AreYouFree>() == (Nodes{1, 2}));
  answered(1, Free{200ms});
  answered(2, Free{200ms});
  called(1, AreYouThere{});
  BOOST_TEST(answer<Here>()->by_quorum->awaits);
  BOOST_TEST(!state.h.has_value());
}

BOOST_AUTO_TEST_CASE(its_here_is_silence_to_a_lower_candidate) {
  Clocked node(2, 3);
  BOOST_TEST_REQUIRE(node.sent<AreYouThere>() == (Nodes{3}));
  node.answered(3, Here{}, ByQuorum{std::nullopt, false, true, {}});
  BOOST_TEST(node.sent<AreYouFree>() == (Nodes{1}));
}

BOOST_FIXTURE_TEST_CASE(and_to_a_member_of_it, Lowest) {
  works_for(3);
  give(Expired{Timer::coordinator});
  answered(3, Here{}, ByQuorum{std::nullopt, false, true, {}});
  BOOST_TEST(runs<bully::SeekingHigher>());
}

BOOST_FIXTURE_TEST_CASE(who_awaits_a_majority_joins_nobody_when_it_has_stopped, Lowest) {
  works_for(3);
  called(3, Halt{{id(3), {1}, 8}});
  called(3, NewCoordinator{{id(3), {1}, 8}, {1}, {101, id(3)}});
  BOOST_TEST_REQUIRE(state.application == Activity::Stopping);
  give(Expired{Timer::coordinator});
  unanswered(3);  // node 3, for which it stops, does not answer
  while (runs<bully::SeekingHigher>()) unanswered(2);
  BOOST_TEST_REQUIRE(runs<bully::AwaitingMajority>());
  BOOST_TEST(state.owed.empty());
  end_hook();
  BOOST_TEST(!answer<Joined>());
}

// --- A silent member

BOOST_FIXTURE_TEST_CASE(a_coordinator_works_on_while_a_silent_member_has_its_right, Highest) {
  coordinates_all(*this);
  const Moment heard = now;
  while (now + check < heard + L + stop_deadline) {
    now += check;
    give(Expired{Timer::check});
    answered(2, Normality{true}, grant);
    unanswered(1);
    BOOST_TEST_REQUIRE(state.s == Status::Normal);
    BOOST_TEST_REQUIRE(!runs<bully::AskingFree>());
  }
  now += 2 * check;
  give(Expired{Timer::check});
  answered(2, Normality{true}, grant);
  unanswered(1);
  BOOST_TEST(runs<bully::AskingFree>());
}

BOOST_FIXTURE_TEST_CASE(a_coordinator_that_a_majority_does_not_answer_stops, Highest) {
  coordinates_all(*this);
  now += L;
  give(Expired{Timer::right});
  BOOST_TEST_REQUIRE(asked<Stop>());
  BOOST_TEST(asked<Stop>()->cause.reason == StopReason::right_over);
}

// --- Giving a right up

BOOST_FIXTURE_TEST_CASE(a_pause_gives_up_the_right_and_no_grant, Lowest) {
  long_after();
  works_for(3);
  now += 60ms;
  give(Paused{60ms});
  BOOST_TEST(state.by_options.grants.right == 0ms);
  called(2, AreYouFree{});
  const auto& result = std::get<Answer>(answer<Free>()->message).result;
  BOOST_TEST(std::get<Free>(result).after == L - 60ms);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
