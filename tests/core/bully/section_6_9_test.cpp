#include "alone.hpp"
#include "core/world/script.hpp"

/// Sections 6.8 to 6.14 and 6.19 to 6.21, the paper's text and as it ships.

namespace muster::test {

namespace {

bool possible(World& world, const char* script) {
  for (const Command& command : parse_script(script))
    if (!run(world, command)) return false;
  return true;
}

/// 3 is paused for so long that 1 and 2 form a group of their own, and does not notice (6.11).
World split(Repairs repairs) {
  World world = settled(3, repairs);
  world.claim = false;
  world.pause(3);
  BOOST_REQUIRE(world.settle());
  world.resume(3, false);
  return world;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(section_6_from_8_on)

// --- 6.8 Halted node whose halter dies

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

// --- 6.9 Late, reordered, duplicate letters; incarnations

BOOST_AUTO_TEST_CASE(letters_of_a_life_that_is_over_are_ignored) {
  BullyAlone node(3, 5);
  node.restarts(1);
  BOOST_TEST(answer<Here>(node.called(1, AreYouThere{})));
  node.coordinator_elect({id(1)});
  const CallNumber call = node.procedure<bully::Announcing>()->announced.begin()->first;
  for (const Message& old : {Message{AreYouThere{}}, Message{Halt{{id(1), {1}, 1}}}})
    BOOST_TEST(node.give(Received{{id(1), {1}, id(3), {77}, old}}).empty());
  BOOST_TEST(node.give(Received{{id(1), {1}, id(3), call, Answer{Joined{}}}}).empty());
  BOOST_TEST(node.procedure<bully::Announcing>()->announced.contains(call));
}

BOOST_AUTO_TEST_CASE(an_old_ready_is_refused_in_the_second_reorganization) {
  BullyAlone node(1, 2);
  node.answered(2, Here{});
  node.reorganization_of(2);
  const Ready old = node.ready(2, "d0");
  node.world.fail(1);
  node.world.recover(1);
  node.reorganization_of(2);
  BOOST_TEST(answer<Refused>(node.called(2, old)));
  BOOST_TEST(node.state().s == Status::Reorganization);
  node.called(2, node.ready(2, "d1"));
  node.end_hook();
  BOOST_TEST(node.state().d->data == "d1");
}

BOOST_AUTO_TEST_CASE(duplicates_delivered_behind_the_halt_of_another_are_ignored) {
  BullyAlone node(1, 3);
  node.answered(2, Here{});
  const Halt halt = node.new_halt(2);
  node.called(2, halt);
  node.stop();
  const NewCoordinator new_coordinator = node.new_coordinator(2);
  node.called(2, new_coordinator);
  node.halt_by(3);
  BOOST_TEST(node.called(2, halt).empty());
  BOOST_TEST(answer<Refused>(node.called(2, new_coordinator)));
  BOOST_TEST(node.view().halted_by.value() == id(3));
  BOOST_TEST(node.state().s == Status::Election);
}

BOOST_AUTO_TEST_CASE(literally_a_duplicate_halt_is_obeyed) {
  BullyAlone node(1, 3, Repairs::none());
  node.unanswered(2);
  node.answered(3, Here{});
  const Halt halt = node.new_halt(2);
  node.called(2, halt);
  node.stop();
  node.halt_by(3);
  node.called(2, halt);
  BOOST_TEST(node.view().halted_by.value() == id(2));
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_owed_to_a_life_that_is_over_is_never_given) {
  BullyAlone node(1, 3);
  node.answered(2, Here{});
  node.called(2, node.new_halt(2));
  node.called(2, node.new_coordinator(2));
  BOOST_REQUIRE(!node.state().owed.empty());
  node.give(Failed{id(2), {1}});
  BOOST_TEST(!answers_anything(node.end_hook()));
}

// --- 6.10 Minimum down time

BOOST_DATA_TEST_CASE(no_minimum_down_time_is_needed, every_form(), repairs) {
  World world = settled(3, repairs);
  for (std::uint32_t times = 0; times < 12; ++times) {
    world.fail(1 + times % 3);
    world.recover(1 + times % 3);
    for (std::uint32_t items = 0; items < times; ++items) world.run_once();
  }
  BOOST_TEST(world.settle());
}

// --- 6.11 Paused coordinator

BOOST_AUTO_TEST_CASE(a_coordinator_that_paused_and_does_not_notice_violates_assertion_1) {
  BOOST_TEST(assertion_1a(split({}).standings()).has_value());
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_notices_its_pause_behaves_as_crashed) {
  World world = settled(3);
  world.pause(3);
  BOOST_REQUIRE(world.settle());
  world.resume(3);  // assertions are claimed at every step
  BOOST_TEST(!world[3].application.permits.has_value());
  BOOST_TEST(world.settle());
  BOOST_TEST(world[1].state().c->candidate == id(3));
}

// --- 6.12 The split brain

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

// --- 6.13 Check does not see dead members

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

// --- 6.14 What Halt must wait for

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
  BOOST_REQUIRE(possible(world, "until 1 Stopping"));
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

// --- 6.19 An unanswered call may spare a question, never a Halt

BOOST_AUTO_TEST_CASE(a_node_whose_new_coordinator_went_unanswered_is_halted_again) {
  BullyAlone node(2, 3);
  node.coordinator_elect({id(1)});
  node.unanswered(1);
  BOOST_TEST(sent<Halt>(node.unanswered(3)) == Nodes({1}));
}

BOOST_AUTO_TEST_CASE(a_node_proven_dead_is_halted_again) {
  BullyAlone node(2, 3);
  node.coordinator_elect({id(1)});
  node.give(Failed{id(1), {1}});
  BOOST_TEST(sent<Halt>(node.unanswered(3)) == Nodes({1}));
}

// The schedule of 6.19, its nodes 0, 1, 2 being 1, 2, 3.
BOOST_DATA_TEST_CASE(the_schedule_of_6_19_is_safe, every_form(), repairs) {
  World world(3, repairs);
  BOOST_REQUIRE(
      possible(world, "recover 1\n run\n recover 3\n until 3 Announcing\n fail 1\n recover 1"));
  possible(world, "refuse 1 2\n run\n recover 2\n until 3 Announcing\n fail 3");
  BOOST_TEST(world.settle());
}

// --- 6.20 Slow stops

BOOST_AUTO_TEST_CASE(a_fail_over_waits_for_the_longest_stop_and_not_for_the_sum) {
  World world = settled(4);
  for (std::uint32_t i = 1; i <= 3; ++i) world[i].hold_hooks = true;
  world.fail(4);
  world.run();
  for (std::uint32_t i = 1; i <= 3; ++i) {  // all three stop side by side
    BOOST_REQUIRE(world[i].application.running);
    BOOST_TEST(world[i].application.running->hook == Hook::stop);
  }
  world.end_hook(1);
  world.run();
  world.end_hook(3);
  world.run();
  BOOST_TEST(!world[3].application.running);  // it waits for 2
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

// --- 6.21 The end of a life is no answer to a call to the node

// The schedule of 6.21, its nodes 0, 1, 2 being 1, 2, 3.
BOOST_DATA_TEST_CASE(the_schedule_of_6_21_is_safe, every_form(), repairs) {
  World world(3, repairs);
  BOOST_REQUIRE(possible(world, "recover 1\n recover 2\n settle\n fail 1\n recover 1"));
  BOOST_REQUIRE(possible(world, "recover 3\n connect 1 3\n connect 2 3\n"));
  // 3 halts 2 and the new 1; 2's session is still with 1's old life.
  for (int items = 0; items < 60 && world[1].state().s != Status::Reorganization; ++items) {
    for (std::uint32_t i : {1U, 2U, 3U}) world.end_hook(i);
    for (std::uint32_t i : {1U, 2U}) world.deliver(3, i) || world.deliver(i, 3);
    if (world[3].calls().size() == 1) world.silence(3, 2);
  }
  world.fail(3);
  world.refuse(2, 3);
  world.run();
  BOOST_TEST(world.settle());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
