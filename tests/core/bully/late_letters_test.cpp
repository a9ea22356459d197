#include "alone.hpp"
#include "core/world/script.hpp"

/// Findings about letters and lives (docs/protocols/bully/findings.md): "Late letters and lives",
/// "Minimum down time", "An unanswered call" and "The end of a life". Most cases run with the
/// paper's text and as the protocol ships.

namespace muster::test {

namespace {

bool possible(World& world, const char* script) {
  for (const Command& command : parse_script(script))
    if (!run(world, command)) return false;
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(late_letters)

// --- Late letters and lives

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

// --- Minimum down time

BOOST_DATA_TEST_CASE(no_minimum_down_time_is_needed, every_form(), repairs) {
  World world = settled(3, repairs);
  for (std::uint32_t times = 0; times < 12; ++times) {
    world.fail(1 + times % 3);
    world.recover(1 + times % 3);
    for (std::uint32_t items = 0; items < times; ++items) world.run_once();
  }
  BOOST_TEST(world.settle());
}

// --- An unanswered call may spare a question, never a Halt

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

// The schedule of "An unanswered call". The nodes 0, 1 and 2 of the finding are nodes 1, 2 and 3
// here.
BOOST_DATA_TEST_CASE(the_schedule_of_an_unanswered_call_is_safe, every_form(), repairs) {
  World world(3, repairs);
  BOOST_REQUIRE(
      possible(world, "recover 1\n run\n recover 3\n until 3 Announcing\n fail 1\n recover 1"));
  possible(world, "refuse 1 2\n run\n recover 2\n until 3 Announcing\n fail 3");
  BOOST_TEST(world.settle());
}

// --- The end of a life is no answer to a call to the node

// The schedule of "The end of a life". The nodes 0, 1 and 2 of the finding are nodes 1, 2 and 3
// here.
BOOST_DATA_TEST_CASE(the_schedule_of_the_end_of_a_life_is_safe, every_form(), repairs) {
  World world(3, repairs);
  BOOST_REQUIRE(possible(world, "recover 1\n recover 2\n settle\n fail 1\n recover 1"));
  BOOST_REQUIRE(possible(world, "recover 3\n connect 1 3\n connect 2 3\n"));
  // Node 3 halts node 2 and the new life of node 1. The session of node 2 is still with the old
  // life of node 1.
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
