#include "alone.hpp"

#include <muster/values/hash.hpp>

/// How each option of docs/explanation/options.md changes the paper's procedures.

namespace muster::test {

namespace {

using namespace std::chrono_literals;

const Options quorum{.quorum = Quorum::majority};
const Options never_preempts{.preempt = Preempt::never};
const Options preempts_after{.preempt = Preempt::after, .preempt_after = 1h};
const Options resume_all{.resume = Resume::all};
const Options settle{.settle = 5s};

Config with(const Options& options) {
  Config config;
  config.options = options;
  return config;
}

void pass_time(World& world) {
  for (int turn = 0; turn < 60; ++turn) {
    world.run();
    world.advance();
  }
}

std::uint32_t coordinator_of(const World& world, std::uint32_t node) {
  const auto& c = world[node].state().c;
  return c && world[node].state().s == Status::Normal ? c->candidate.value : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

// --- quorum

BOOST_AUTO_TEST_CASE(with_a_quorum_a_minority_halts_nobody_and_tries_again) {
  BullyAlone node(3, 3, {}, quorum);
  node.unanswered(2);
  node.unanswered(1);
  BOOST_TEST(node.procedure<bully::AwaitingMajority>() != nullptr);
  BOOST_TEST(sent<AreYouFree>(node.expire(Timer::retry)) == Nodes({1, 2}));
  BOOST_TEST(first<Disarm>(node.actions()) == nullptr);
  BOOST_TEST(sent<Halt>(node.answered(2, Free{})) == Nodes({2}));
  node.answered(2, Halted{});
  node.unanswered(1);
  BOOST_TEST(node.state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(with_a_quorum_half_of_all_is_no_majority) {
  BullyAlone node(4, 4, {}, quorum);
  node.answered(3, Free{});
  BOOST_TEST(sent<Halt>(node.answered(2, Free{})) == Nodes({3}));
  node.answered(3, Halted{});
  node.unanswered(2);
  node.unanswered(1);
  BOOST_TEST(node.procedure<bully::AwaitingMajority>() != nullptr);
}

BOOST_AUTO_TEST_CASE(with_a_quorum_a_group_that_falls_below_it_halts_until_enough_are_there) {
  World world = settled(3, with(quorum));
  world.fail(2);
  BOOST_REQUIRE(world.settle());
  BOOST_TEST(coordinator_of(world, 3) == 3u);  // two of three are enough
  world.fail(1);
  pass_time(world);
  BOOST_TEST(!assertion_2(world.standings(), 2));
  BOOST_TEST(assertion_2(world.standings()).has_value());
  BOOST_TEST(!world[3].application.works.has_value());
  world.recover(1);
  BOOST_REQUIRE(world.settle());
  BOOST_TEST(coordinator_of(world, 1) == 3u);
}

// --- preempt

BOOST_AUTO_TEST_CASE(where_a_higher_node_joins_a_life_begins_by_waiting_to_be_found) {
  BullyAlone node(3, 3, {}, never_preempts);
  BOOST_TEST(sent<Halt>(node.actions()).empty());
  BOOST_TEST(arms(node.actions(), Timer::coordinator));
  BOOST_TEST(answer<Here>(node.called(2, AreYouThere{})) != nullptr);  // node 2 is no coordinator
  const Actions found = node.called(2, AreYouNormal{{7, id(2)}});
  BOOST_TEST(!answer<Normality>(found)->normal);
  BOOST_TEST(answer<Refused>(node.called(2, AreYouThere{})) != nullptr);
  BOOST_TEST(answer<Here>(node.called(1, AreYouThere{})) != nullptr);
  BOOST_TEST(sent<Halt>(node.expire(Timer::coordinator)) == Nodes({1, 2}));  // no coordinator came
}

BOOST_AUTO_TEST_CASE(a_candidate_halts_the_higher_nodes_that_stand_back_in_rounds) {
  BullyAlone node(2, 3, {}, never_preempts);
  node.expire(Timer::coordinator);
  BOOST_TEST(sent<Halt>(node.answered(3, Refused{"stands back"})) == Nodes({1, 3}));
  node.answered(3, Halted{});
  BOOST_TEST(sent<Halt>(node.answered(1, Halted{})) == Nodes({1, 3}));
  BOOST_TEST(node.state().s == Status::Election);
  node.answered(1, Halted{});
  node.answered(3, Halted{});
  BOOST_TEST(node.state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(a_member_that_stands_back_is_there) {
  BullyAlone node(2, 3, {}, never_preempts);
  node.expire(Timer::coordinator);
  node.unanswered(3);
  while (!node.procedure<bully::Announcing>())
    for (std::uint32_t j : {1u, 3u}) node.answered(j, Halted{});
  for (std::uint32_t j : {1u, 3u}) node.answered(j, Joined{});
  node.stop();
  BOOST_REQUIRE(node.procedure<bully::Reorganizing>());
  BOOST_TEST(sent<AreYouThere>(node.expire(Timer::check)) == Nodes({3, 1}));
  node.answered(3, Refused{"stands back"});
  BOOST_TEST(node.procedure<bully::Reorganizing>());
  node.unanswered(1);
  BOOST_TEST(node.state().s == Status::Election);
}

BOOST_AUTO_TEST_CASE(who_was_found_and_elects_stands_back_for_nobody_any_more) {
  BullyAlone node(3, 3, {}, never_preempts);
  node.called(2, AreYouNormal{{7, id(2)}});
  node.expire(Timer::coordinator);
  while (!node.procedure<bully::Announcing>())
    for (std::uint32_t j : {1u, 2u}) node.answered(j, Halted{});
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Joined{});
  node.stop();
  node.end_hook();
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Installed{});
  node.end_hook();
  BOOST_REQUIRE(node.state().s == Status::Normal);
  BOOST_TEST(answer<Here>(node.called(2, AreYouThere{})) != nullptr);
}

BOOST_AUTO_TEST_CASE(nor_for_the_next_life_of_who_has_found_it) {
  BullyAlone node(3, 3, {}, never_preempts);
  node.called(2, AreYouNormal{{7, id(2)}});
  node.restarts(2);
  BOOST_TEST(answer<Here>(node.called(2, AreYouThere{})) != nullptr);
}

BOOST_AUTO_TEST_CASE(nor_when_another_has_halted_it) {
  BullyAlone node(3, 3, {}, never_preempts);
  node.called(2, AreYouNormal{{7, id(2)}});
  node.halt_by(1);
  BOOST_TEST(answer<Here>(node.called(2, AreYouThere{})) != nullptr);
}

BOOST_AUTO_TEST_CASE(nor_does_a_member_that_has_failed_and_recovered) {
  BullyAlone node(3, 3, {}, never_preempts);
  node.normal_member_of(2);
  BOOST_TEST(answer<Refused>(node.called(2, AreYouThere{})) != nullptr);
  node.expire(Timer::coordinator);
  node.answered(2, Elsewhere{});
  node.stop();
  BOOST_REQUIRE(node.state().s == Status::Down);
  BOOST_TEST(answer<Here>(node.called(2, AreYouThere{})) != nullptr);
}

BOOST_AUTO_TEST_CASE(a_higher_node_that_comes_back_joins_and_takes_over_when_the_lower_fails) {
  World world(3, with(never_preempts));
  world.recover(1);
  world.recover(2);
  BOOST_REQUIRE(world.settle());
  world.recover(3);
  BOOST_REQUIRE(world.settle());
  for (std::uint32_t i = 1; i <= 3; ++i) BOOST_TEST(coordinator_of(world, i) == 2u);
  world.fail(2);
  BOOST_REQUIRE(world.settle());
  BOOST_TEST(coordinator_of(world, 1) == 3u);
  world.recover(2);
  BOOST_REQUIRE(world.settle());
  BOOST_TEST(coordinator_of(world, 2) == 3u);
}

BOOST_AUTO_TEST_CASE(nodes_that_begin_together_have_the_highest_as_coordinator_where_it_joins) {
  World world = settled(3, with(never_preempts));
  BOOST_TEST(coordinator_of(world, 1) == 3u);
}

BOOST_AUTO_TEST_CASE(a_higher_node_takes_over_when_it_has_been_a_member_for_long_enough) {
  World world(3, with(preempts_after));
  world.recover(2);
  BOOST_REQUIRE(world.settle());
  world.recover(3);
  BOOST_REQUIRE(world.settle());
  BOOST_REQUIRE_EQUAL(coordinator_of(world, 3), 2u);
  BOOST_TEST(!world[2].timers().contains(Timer::preempt));
  const Duration left = world[3].timers().at(Timer::preempt).due - world.now;
  BOOST_TEST((left > 59min && left <= 1h));
  BOOST_REQUIRE(world.expire(3, Timer::preempt));
  BOOST_REQUIRE(world.settle());
  BOOST_TEST(coordinator_of(world, 2) == 3u);
  BOOST_TEST(!world[3].timers().contains(Timer::preempt));
}

// --- resume

BOOST_AUTO_TEST_CASE(where_all_resume_together_the_first_ready_installs_and_the_second_starts) {
  BullyAlone node(1, 3, {}, resume_all);
  node.reorganization_of(3);
  const Actions first_word = node.called(3, node.ready(3));
  BOOST_TEST(answer<Installed>(first_word) != nullptr);
  BOOST_TEST(first<Start>(first_word) == nullptr);
  BOOST_TEST(node.node().safe.assigned->definition == Definition{"task"});
  BOOST_TEST(node.state().s == Status::Reorganization);
  const Actions second_word = node.called(3, node.ready(3));
  BOOST_TEST(first<Start>(second_word) != nullptr);
  BOOST_TEST(first<Save>(second_word) == nullptr);
  node.end_hook();
  BOOST_TEST(node.state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(
    where_all_resume_together_a_member_that_never_started_holds_what_it_installed) {
  BullyAlone node(1, 3, {}, resume_all);
  node.reorganization_of(3);
  const GroupNumber installed = node.group();
  node.called(3, node.ready(3));
  BOOST_TEST(first<Stop>(node.called(3, node.new_halt(3))) == nullptr);
  const Actions joins = node.called(3, node.new_coordinator(3));
  BOOST_REQUIRE(answer<Joined>(joins) != nullptr);
  const Holdings& holds = answer<Joined>(joins)->holdings;
  BOOST_TEST(holds.group == installed);
  BOOST_TEST(holds.definition == digest("task"));
  BOOST_TEST(!holds.empty);
}

BOOST_AUTO_TEST_CASE(where_all_resume_together_a_coordinator_says_ready_twice) {
  BullyAlone node(3, 3, {}, resume_all);
  node.reorganizing({id(1), id(2)});
  const Actions first_word = node.end_hook();
  BOOST_TEST(sent<Ready>(first_word) == Nodes({1, 2}));
  BOOST_TEST(first<Start>(first_word) == nullptr);
  BOOST_TEST(sent<Ready>(node.answered(1, Installed{})).empty());
  const Actions second_word = node.answered(2, Installed{});
  BOOST_TEST(sent<Ready>(second_word) == Nodes({1, 2}));
  BOOST_TEST(first<Start>(second_word) != nullptr);
  node.answered(1, Installed{});
  node.end_hook();
  BOOST_TEST(node.state().s == Status::Reorganization);
  node.answered(2, Installed{});
  BOOST_TEST(node.state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(where_all_resume_together_one_alone_does_too) {
  World world(2, with(resume_all));
  world.recover(1);
  BOOST_REQUIRE(world.settle());
  BOOST_TEST(coordinator_of(world, 1) == 1u);
}

// --- settle

BOOST_AUTO_TEST_CASE(a_first_life_that_settles_elects_when_it_has_heard_of_all) {
  BullyAlone node(3, 3, {}, settle);
  BOOST_TEST(sent<AreYouThere>(node.actions()) == Nodes({1, 2}));
  BOOST_TEST(arms(node.actions(), Timer::settle));
  node.unanswered(2);
  node.answered(1, Here{});
  BOOST_TEST(node.procedure<bully::Settling>() != nullptr);
  BOOST_TEST(sent<Halt>(node.called(2, AreYouThere{})) == Nodes({2}));
}

BOOST_AUTO_TEST_CASE(a_first_life_that_settles_elects_when_the_time_is_over) {
  BullyAlone node(3, 3, {}, settle);
  node.unanswered(2);
  BOOST_TEST(sent<Halt>(node.expire(Timer::settle)) == Nodes({2}));
  BOOST_TEST(first<Disarm>(node.actions()) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_first_life_that_settles_elects_when_a_normal_coordinator_asks) {
  BullyAlone node(3, 3, {}, settle);
  BOOST_TEST(sent<Halt>(node.called(2, AreYouNormal{{7, id(2)}})) == Nodes({2}));
}

BOOST_AUTO_TEST_CASE(a_node_that_was_assigned_something_does_not_settle) {
  World world = settled(2, with(settle));
  world.fail(2);
  world.recover(2);
  BOOST_TEST(!std::holds_alternative<bully::Settling>(world[2].state().procedure));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
