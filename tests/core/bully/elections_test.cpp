#include "alone.hpp"
#include "core/world/script.hpp"

/// Findings about failures, returns and other candidates in an election
/// (docs/protocols/bully/findings.md, from "A quick restart" to "The halter fails"). Most cases run
/// with the paper's text and as the protocol ships. Schedules in which each step matters are
/// scenarios too (tests/core/bully/scenarios).

namespace muster::test {

namespace {

/// Runs a script on nodes that are all down. Every command must be possible.
World played(std::uint32_t nodes, Repairs repairs, const char* script) {
  World world(nodes, repairs);
  for (const Command& command : parse_script(script))
    BOOST_REQUIRE_MESSAGE(run(world, command), "not possible: " << to_line(command));
  return world;
}

const bully::State& state(const World& world, std::uint32_t node) {
  return world[node].state();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elections)

// --- A quick restart

constexpr const char* restart_inside_an_election = R"(
  recover 3
  recover 1
  until 3 Announcing
  fail 1
  recover 1
)";

BOOST_DATA_TEST_CASE(
    a_lower_node_that_restarts_inside_an_election_is_no_member_by_what_was_sent_to_its_old_life,
    every_form(), repairs) {
  World world = played(3, repairs, restart_inside_an_election);
  while (state(world, 1).s == Status::Down && world.run_once()) {
  }
  BOOST_TEST(state(world, 1).s == Status::Election);  // since its new life was halted
  BOOST_TEST(state(world, 1).safe.incarnation == Incarnation{2});
}

BOOST_AUTO_TEST_CASE(literally_the_next_check_finds_it_and_restarts_everything) {
  // In the paper's model a call goes to a node, not to a life. So NewCoordinator and Ready reach
  // the new life, which answers them but does nothing else.
  BullyAlone restarted(1, 3, Repairs::none());
  restarted.unanswered(2);
  restarted.answered(3, Here{});
  BOOST_TEST(answer<Joined>(restarted.called(3, restarted.new_coordinator(3))));
  BOOST_TEST(answer<Installed>(restarted.called(3, restarted.ready(3))));
  BOOST_TEST(restarted.state().s == Status::Down);
  BOOST_TEST(!answer<Normality>(restarted.called(3, AreYouNormal{}))->normal);

  BullyAlone coordinator(3, 3, Repairs::none());
  coordinator.normal_coordinator_of({id(1)});
  coordinator.expire(Timer::check);
  coordinator.answered(1, Normality{false});
  BOOST_TEST(coordinator.state().s == Status::Election);
}

BOOST_AUTO_TEST_CASE(a_refusal_makes_the_coordinator_start_over_now) {
  World world = played(3, {}, restart_inside_an_election);
  world.run();
  BOOST_TEST(world.are_one_group());  // no timer was needed
  BOOST_TEST(state(world, 3).up.size() == 1U);
  BOOST_TEST(state(world, 3).up.front().incarnation == Incarnation{2});
}

BOOST_AUTO_TEST_CASE(h_is_undefined_after_recovery_whatever_safe_storage_says) {
  Repairs repairs = Repairs::none();  // the whole of S(i) is in safe storage
  BullyAlone node(1, 3, repairs);
  node.unanswered(2);
  node.answered(3, Here{});
  node.halt_by(3);
  BOOST_REQUIRE(node.node().safe.vector.h == id(3));
  node.world.fail(1);
  node.world.recover(1);
  BOOST_TEST(!node.state().h.has_value());
  BOOST_TEST(node.state().s == Status::Down);
  node.called(3, node.new_coordinator(3));
  BOOST_TEST(node.state().s == Status::Down);
}

// --- A higher node returns in an election

constexpr const char* higher_node_between = R"(
  recover 1
  run
  recover 2
  refuse 2 3         # 3 is not there: 2 goes on
  until 2 Announcing
  recover 3          # and there it is
)";

BOOST_DATA_TEST_CASE(a_higher_node_between_are_you_there_and_halt_is_safe, every_form(), repairs) {
  World world = played(3, repairs, higher_node_between);
  BOOST_TEST(world.settle());
  BOOST_TEST(state(world, 1).c->candidate == id(3));
  BOOST_TEST(state(world, 2).c->candidate == id(3));
}

BOOST_DATA_TEST_CASE(the_late_new_coordinator_finds_another_h_and_is_ignored, every_form(),
                     repairs) {
  BullyAlone node(1, 3, repairs);
  node.answered(2, Here{});
  node.halt_by(2);
  const NewCoordinator late = node.new_coordinator(2);
  node.halt_by(3);
  node.called(2, late);
  BOOST_TEST(node.state().s == Status::Election);
  node.called(3, node.new_coordinator(3));
  BOOST_TEST(node.view().coordinator.value() == id(3));
}

// --- Two elections at once

BOOST_DATA_TEST_CASE(of_two_elections_at_once_the_lower_is_answered_or_halted_by_the_higher,
                     every_form(), repairs) {
  World world(3, repairs);
  for (std::uint32_t i = 1; i <= 3; ++i) world.recover(i);
  world.run();
  BOOST_TEST(state(world, 3).s == Status::Normal);
  BOOST_TEST(world.settle());
  BOOST_TEST(state(world, 1).c->candidate == id(3));
}

// --- STOP ends a running election

BOOST_DATA_TEST_CASE(an_answer_to_an_election_that_was_halted_has_no_effect, every_form(),
                     repairs) {
  BullyAlone node(2, 3, repairs);
  node.unanswered(3);
  node.stop();
  BOOST_REQUIRE(node.procedure<bully::HaltingLower>());
  const CallNumber call = node.procedure<bully::HaltingLower>()->call;
  node.halt_by(3);
  node.give(Received{{id(1), {1}, id(2), call, Answer{Halted{}}}});
  BOOST_TEST(node.state().s == Status::Election);
  BOOST_TEST(node.procedure<bully::Idle>());
}

BOOST_AUTO_TEST_CASE(every_continuation_of_an_ended_procedure_has_no_effect) {
  BullyAlone node(2, 4);
  node.reorganizing({id(1)});
  node.expire(Timer::check);
  const CallNumber question = node.procedure<bully::Reorganizing>()->questions.begin()->first;
  node.halt_by(4);
  const bully::State before = node.state();
  BOOST_TEST(node.give(Unanswered{id(1), question}).empty());
  BOOST_TEST(node.state() == before);
}

// --- The order of Halts

BOOST_DATA_TEST_CASE(
    with_descending_halts_the_lower_candidate_is_dead_before_the_lower_node_is_halted, every_form(),
    repairs) {
  BullyAlone node(3, 3, repairs);
  node.stop();
  for (const Letter& letter : node.world.sent())
    if (std::holds_alternative<Halt>(letter.message)) BOOST_TEST(letter.to == id(2));
  BOOST_TEST(sent<Halt>(node.answered(2, Halted{})) == Nodes({1}));
}

BOOST_AUTO_TEST_CASE(an_unanswered_halt_is_waited_for_before_the_next_goes_out) {
  BullyAlone node(3, 3);
  node.stop();
  BOOST_TEST(sent<Halt>(node.give(Failed{id(2), {1}})).empty());
  BOOST_TEST(sent<Halt>(node.unanswered(2)) == Nodes({1}));
}

// --- The coordinator fails in reorganization

BOOST_AUTO_TEST_CASE(members_find_out_that_their_coordinator_died_in_reorganization) {
  for (const char* where : {"Announcing", "Reorganizing", "MakingReady"}) {
    World world(3);
    world.recover(1);
    world.recover(2);
    world.recover(3);
    BOOST_REQUIRE(run(world, parse_command("until 3 " + std::string(where))));
    world.fail(3, true);
    BOOST_TEST(world.settle());
    BOOST_TEST(state(world, 1).c->candidate == id(2));
  }
}

BOOST_AUTO_TEST_CASE(half_way_through_ready_some_are_normal_and_some_in_reorganization) {
  World world(3, Repairs::none());
  for (std::uint32_t i = 1; i <= 3; ++i) world.recover(i);
  BOOST_REQUIRE(
      world.run_until([](const World& now) { return now[1].state().s == Status::Normal; }));
  BOOST_TEST(state(world, 2).s == Status::Reorganization);
  world.fail(3);
  BOOST_TEST(!assertion_1a(world.standings()).has_value());
  BOOST_TEST(world.settle());
}

// --- A coordinator stuck in reorganization

constexpr const char* stuck = R"(
  recover 1
  run
  recover 2
  refuse 2 3
  until 2 Announcing
  fail 1
  recover 3
  hold 3             # 3 is up and answers, but its election does not come to its Halts
  refuse 2 1
  run
  fail 3
)";

BOOST_AUTO_TEST_CASE(literally_a_coordinator_elect_may_be_stuck_in_reorganization_for_ever) {
  World world = played(3, Repairs::none(), stuck);
  BOOST_TEST(!world.settle());
  BOOST_TEST(state(world, 2).s == Status::Reorganization);
  BOOST_TEST(state(world, 2).c->candidate == id(2));
}

BOOST_AUTO_TEST_CASE(with_either_half_of_the_remedy_it_is_not) {
  World world(3, Repairs{});
  for (const Command& command : parse_script(stuck)) run(world, command);
  BOOST_TEST(world.settle());
}

// --- The halter fails

BOOST_DATA_TEST_CASE(a_halted_node_whose_halter_dies_begins_an_election_on_timeout, every_form(),
                     repairs) {
  BullyAlone node(1, 2, repairs);
  node.answered(2, Here{});
  node.halt_by(2);
  node.expire(Timer::coordinator);
  BOOST_TEST(node.procedure<bully::SeekingHigher>());
  node.unanswered(2);
  node.stop();
  BOOST_TEST(node.state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
