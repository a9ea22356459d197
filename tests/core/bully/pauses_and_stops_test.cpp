#include "alone.hpp"
#include "core/world/script.hpp"

/// Findings about pauses, silent members and stops (docs/protocols/bully/findings.md): from "A
/// paused coordinator" to "What Halt waits for", and "Slow stops".

namespace muster::test {

namespace {

/// Node 3 pauses without noticing it, for so long that nodes 1 and 2 form a group of their own ("A
/// paused coordinator").
World split(Repairs repairs) {
  World world = settled(3, repairs);
  world.claim = false;
  world.pause(3);
  BOOST_REQUIRE(world.settle());
  world.resume(3, false);
  return world;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pauses_and_stops)

// --- A paused coordinator

BOOST_AUTO_TEST_CASE(a_coordinator_that_paused_and_does_not_notice_violates_assertion_1) {
  BOOST_TEST(assertion_1a(split({}).standings()).has_value());
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_notices_its_pause_behaves_as_crashed) {
  World world = settled(3);
  world.pause(3);
  BOOST_REQUIRE(world.settle());
  world.resume(3);  // from here on each step checks the assertions
  BOOST_TEST(!world[3].application.permits.has_value());
  BOOST_TEST(world.settle());
  BOOST_TEST(world[1].state().c->candidate == id(3));
}

// --- A split does not heal by itself

BOOST_AUTO_TEST_CASE(literally_the_split_brain_never_heals_by_itself) {
  World world = split(Repairs::none());
  BOOST_TEST(!world.settle(200));
  BOOST_TEST(world[3].state().s == Status::Normal);
  BOOST_TEST(world[2].state().c->candidate == id(2));
}

BOOST_AUTO_TEST_CASE(a_no_to_another_coordinator_heals_it) {
  World world = split({});
  BOOST_TEST(world.settle());
  BOOST_TEST(world[1].state().c->candidate == id(3));
}

// --- Check does not see dead members

BOOST_AUTO_TEST_CASE(literally_a_dead_member_stays_named) {
  World world = settled(3, Repairs::none());
  world.fail(1, true);
  BOOST_TEST(world.settle());
  BOOST_TEST(world[3].state().up.size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_silent_member_is_lost_and_a_new_definition_made) {
  World world = settled(3);
  const GroupNumber before = *world[3].state().g;
  world.fail(1, true);
  BOOST_TEST(world.settle());
  BOOST_TEST(world[3].state().up.size() == 1U);
  BOOST_TEST(*world[2].state().g > before);
}

// --- What Halt waits for

BOOST_AUTO_TEST_CASE(literally_the_answer_to_halt_means_that_no_step_of_the_old_task_follows) {
  BullyAlone node(1, 2, Repairs::none());
  node.answered(2, Here{});
  node.normal_member_of(2);
  BOOST_TEST(!answers_anything(node.called(2, node.new_halt(2))));
  BOOST_TEST(node.node().application.works.has_value());
  BOOST_TEST(answer<Halted>(node.end_hook()));
  BOOST_TEST(!node.node().application.works.has_value());
}

BOOST_AUTO_TEST_CASE(a_stop_that_fails_is_turned_into_a_crash) {
  World world = settled(2);
  world.fail(2);
  world.recover(2);
  BOOST_REQUIRE(run(world, parse_command("until 1 Stopping")));
  BOOST_TEST(world.end_hook(1, false));
  BOOST_TEST(!world[1].up());
  BOOST_TEST(world.settle());
}

BOOST_AUTO_TEST_CASE(a_node_answers_questions_while_it_stops_and_reorganizes) {
  BullyAlone node(2, 2);
  BOOST_REQUIRE(node.state().application == Activity::Stopping);
  BOOST_TEST(answer<Here>(node.called(1, AreYouThere{})));
  node.reorganizing({});
  BOOST_TEST(answer<Here>(node.called(1, AreYouThere{})));
}

// --- Slow stops

BOOST_AUTO_TEST_CASE(a_fail_over_waits_for_the_longest_stop_and_not_for_the_sum) {
  World world = settled(4);
  for (std::uint32_t i = 1; i <= 3; ++i) world[i].hold_hooks = true;
  world.fail(4);
  world.run();
  for (std::uint32_t i = 1; i <= 3; ++i) {  // all three are stopping at once
    BOOST_REQUIRE(world[i].application.running);
    BOOST_TEST(world[i].application.running->hook == Hook::stop);
  }
  world.end_hook(1);
  world.run();
  world.end_hook(3);
  world.run();
  BOOST_TEST(!world[3].application.running);  // it waits for node 2
  world.end_hook(2);
  world.run();
  BOOST_TEST(world[3].application.running->hook == Hook::reorganize);
}

BOOST_AUTO_TEST_CASE(literally_it_waits_for_the_sum) {
  World world = settled(4, Repairs::none());
  for (std::uint32_t i = 1; i <= 3; ++i) world[i].hold_hooks = true;
  world.fail(4);
  BOOST_REQUIRE(world.run_until([](const World&) { return false; }) == false);
  while (!world[3].application.running) BOOST_REQUIRE(world.advance());
  std::size_t stops = 0;
  for (std::uint32_t i = 1; i <= 3; ++i) stops += world[i].application.running ? 1U : 0U;
  BOOST_TEST(stops == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
