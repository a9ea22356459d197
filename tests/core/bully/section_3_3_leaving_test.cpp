#include "alone.hpp"

#include <muster/values/hash.hpp>

/// Section 3.3, Leaving, Timers and Numbers, as it ships. Node 3 of 5, unless a test says
/// otherwise.

namespace muster::test {

BOOST_AUTO_TEST_SUITE(section_3_3_leaving)

namespace {

struct Shipped : BullyAlone {
  explicit Shipped(std::uint32_t self = 3, std::uint32_t nodes = 5) : BullyAlone(self, nodes) {}
  [[nodiscard]] bool armed(Timer timer) const { return node().timers().contains(timer); }
};

std::size_t saves(const Actions& actions) {
  return static_cast<std::size_t>(
      std::count_if(actions.begin(), actions.end(),
                    [](const Action& action) { return std::holds_alternative<Save>(action); }));
}

}  // namespace

BOOST_AUTO_TEST_CASE(leaving_ends_procedures_disarms_timers_and_stops) {
  Shipped node;
  node.normal_coordinator_of({id(1)});
  node.expire(Timer::check);
  const Actions& actions = node.give(Leaving{});
  BOOST_TEST(node.procedure<bully::Idle>());
  BOOST_TEST(node.node().timers().empty());
  BOOST_REQUIRE(first<Stop>(actions));
  BOOST_TEST((first<Stop>(actions)->cause.reason == StopReason::leaving));
}

BOOST_AUTO_TEST_CASE(a_leaving_node_ignores_failed_and_expired) {
  Shipped node;
  node.normal_member_of(4);
  node.give(Leaving{});
  const bully::State before = node.state();
  BOOST_TEST(node.give(Failed{id(4), {1}}).empty());
  for (Timer timer : {Timer::check, Timer::coordinator, Timer::retry})
    BOOST_TEST(node.would(Expired{timer}).empty());
  BOOST_TEST((node.state() == before));
}

// Departs from the text, which ignores it: the others may have elected another by then, and a node
// that still stood in Normal with its old coordinator would violate Assertion 1a until its stop is
// over.
BOOST_AUTO_TEST_CASE(a_leaving_node_that_pauses_is_down_and_goes_on_leaving) {
  Shipped node;
  node.normal_member_of(4);
  node.give(Leaving{});
  BOOST_TEST(node.give(Paused{}).empty());
  BOOST_TEST(node.state().s == Status::Down);
  BOOST_TEST(!node.state().h.has_value());
  BOOST_TEST(first<Leave>(node.end_hook()));
}

BOOST_AUTO_TEST_CASE(a_leaving_node_still_answers_are_you_there) {
  Shipped node;
  node.normal_member_of(4);
  node.give(Leaving{});
  BOOST_TEST(answer<Here>(node.called(1, AreYouThere{})));
}

BOOST_AUTO_TEST_CASE(a_leaving_node_obeys_halt) {
  Shipped node;
  node.normal_member_of(4);
  node.give(Leaving{});
  BOOST_TEST(answer<Halted>(node.called(5, node.new_halt(5))));
  BOOST_TEST(node.state().s == Status::Election);
  BOOST_TEST(first<Leave>(node.end_hook()));
}

BOOST_AUTO_TEST_CASE(a_leaving_node_refuses_new_coordinator_and_ready) {
  Shipped halted;
  halted.normal_member_of(4);
  halted.give(Leaving{});
  halted.called(5, halted.new_halt(5));
  BOOST_TEST(answer<Refused>(halted.called(5, halted.new_coordinator(5))));
  Shipped node;
  node.normal_member_of(4);
  node.halt_by(4);
  node.called(4, node.new_coordinator(4));
  bully::State forced = node.state();
  forced.application = Activity::Reorganizing;  // so that leaving takes a moment
  bully::step(node.node().config, forced, Leaving{});
  const Letter ready{id(4), {1}, id(3), {1}, node.ready(4)};
  BOOST_TEST(answer<Refused>(bully::step(node.node().config, forced, Received{ready})));
}

BOOST_AUTO_TEST_CASE(a_leaving_node_answers_are_you_normal_as_before_until_it_is_halted) {
  Shipped node;
  node.normal_member_of(4);
  node.give(Leaving{});
  BOOST_TEST(answer<Normality>(node.called(4, AreYouNormal{node.group()}))->normal);
  node.called(5, node.new_halt(5));
  BOOST_TEST(!answer<Normality>(node.called(4, AreYouNormal{node.group()}))->normal);
}

BOOST_AUTO_TEST_CASE(when_it_has_stopped_s_is_down_and_it_leaves) {
  Shipped node;
  node.normal_member_of(4);
  BOOST_TEST(!first<Leave>(node.give(Leaving{})));
  const Actions& actions = node.end_hook();
  BOOST_REQUIRE(first<Leave>(actions));
  BOOST_TEST((first<Leave>(actions)->cause == LeaveCause::asked));
  BOOST_TEST(!node.node().up());
}

BOOST_AUTO_TEST_CASE(a_node_that_is_stopped_leaves_at_once) {
  Shipped node;
  node.halt_by(4);
  BOOST_TEST(first<Leave>(node.give(Leaving{})));
}

BOOST_AUTO_TEST_CASE(a_node_stands_back_when_hooks_fail_again_and_again) {
  Shipped coordinator(2, 2);
  for (int times = 0; times < 3; ++times) {
    if (coordinator.procedure<bully::BackingOff>()) coordinator.expire(Timer::retry);
    coordinator.reorganizing({id(1)});
    coordinator.end_hook(false);
  }
  BOOST_REQUIRE(first<Leave>(coordinator.actions()));
  BOOST_TEST((first<Leave>(coordinator.actions())->cause == LeaveCause::stood_back));
  Shipped member;
  for (int times = 0; times < 3; ++times) {
    BOOST_TEST(!member.state().leaving.has_value());
    member.reorganization_of(4);
    member.called(4, member.ready(4));
    BOOST_TEST(answer<Refused>(member.end_hook(false)));
  }
  BOOST_TEST((member.state().leaving == LeaveCause::stood_back));
  BOOST_TEST((first<Stop>(member.actions())->cause.reason == StopReason::standing_back));
  BOOST_TEST((first<Leave>(member.end_hook())->cause == LeaveCause::stood_back));
}

BOOST_AUTO_TEST_CASE(failures_of_hooks_are_counted_since_the_node_was_last_normal) {
  Shipped member;
  for (int times = 0; times < 4; ++times) {
    for (int failures = 0; failures < 2; ++failures) {
      member.reorganization_of(4);
      member.called(4, member.ready(4));
      member.end_hook(false);
    }
    member.normal_member_of(4);
  }
  BOOST_TEST(!member.state().leaving.has_value());
}

// --- Timers

BOOST_AUTO_TEST_CASE(
    coordinator_is_armed_whenever_no_own_procedure_runs_but_for_a_normal_coordinator) {
  Shipped node;
  BOOST_TEST(!node.armed(Timer::coordinator));
  node.answered(4, Here{});
  BOOST_TEST(node.armed(Timer::coordinator));
  node.halt_by(4);
  BOOST_TEST(node.armed(Timer::coordinator));
  node.expire(Timer::coordinator);
  BOOST_TEST(!node.armed(Timer::coordinator));
  node.normal_coordinator_of({id(1)});
  BOOST_TEST(!node.armed(Timer::coordinator));
}

BOOST_AUTO_TEST_CASE(
    coordinator_is_armed_anew_by_halt_new_coordinator_ready_and_any_question_from_c) {
  Shipped node;
  node.answered(4, Here{});
  BOOST_TEST(arms(node.called(4, node.new_halt(4)), Timer::coordinator));
  node.stop();
  BOOST_TEST(arms(node.called(4, node.new_coordinator(4)), Timer::coordinator));
  BOOST_TEST(arms(node.called(4, node.ready(4)), Timer::coordinator));
  node.end_hook();
  BOOST_TEST(arms(node.called(4, AreYouNormal{node.group()}), Timer::coordinator));
  BOOST_TEST(arms(node.called(4, AreYouThere{}), Timer::coordinator));
  BOOST_TEST(!arms(node.called(5, AreYouThere{}), Timer::coordinator));
  BOOST_TEST(!arms(node.called(1, AreYouThere{}), Timer::coordinator));
}

BOOST_AUTO_TEST_CASE(check_is_armed_in_a_normal_coordinator_and_while_longer_calls_are_out) {
  Shipped node;
  BOOST_TEST(!node.armed(Timer::check));
  node.coordinator_elect({id(1)});
  BOOST_TEST(node.armed(Timer::check));
  node.reorganizing({id(1)});
  BOOST_TEST(node.armed(Timer::check));
  node.end_hook();
  BOOST_TEST(node.armed(Timer::check));
  node.answered(1, Installed{});
  node.end_hook();
  BOOST_TEST(node.armed(Timer::check));
  node.halt_by(5);
  BOOST_TEST(!node.armed(Timer::check));
}

BOOST_AUTO_TEST_CASE(check_is_armed_anew_when_check_begins) {
  Shipped node;
  node.normal_coordinator_of({id(1)});
  BOOST_TEST(arms(node.expire(Timer::check), Timer::check));
  BOOST_TEST(!arms(node.answered(1, Normality{true}), Timer::check));
}

BOOST_AUTO_TEST_CASE(check_asks_in_parallel_and_no_node_that_is_still_being_asked) {
  Shipped node;
  node.normal_coordinator_of({id(1)});
  BOOST_TEST(sent<AreYouNormal>(node.expire(Timer::check)) == Nodes({1, 2, 4, 5}));
  node.answered(1, Normality{true});
  BOOST_TEST(sent<AreYouNormal>(node.expire(Timer::check)) == Nodes({1}));
}

BOOST_AUTO_TEST_CASE(check_begins_only_when_no_procedure_runs_but_checking) {
  Shipped node;
  node.normal_coordinator_of({id(1)});
  node.expire(Timer::check);
  node.answered(2, Normality{false});
  BOOST_REQUIRE(node.procedure<bully::SeekingHigher>());
  BOOST_REQUIRE(node.state().s == Status::Normal);
  BOOST_TEST(sent<AreYouNormal>(node.expire(Timer::check)).empty());
  BOOST_TEST(node.armed(Timer::check));
}

// --- Numbers

BOOST_AUTO_TEST_CASE(every_letter_names_the_life_of_its_sender) {
  Shipped node(2, 2);
  node.world.fail(2);
  node.world.recover(2);
  node.normal_coordinator_of({id(1)});
  for (const Letter& letter : node.world.sent())
    if (std::holds_alternative<Ready>(letter.message))
      BOOST_TEST((letter.incarnation == Incarnation{2}));
}

BOOST_AUTO_TEST_CASE(elections_are_matched_exactly) {
  Shipped node;
  node.halt_by(4);
  NewCoordinator old = node.new_coordinator(4);
  node.halt_by(4);
  BOOST_TEST(answer<Refused>(node.called(4, old)));
  BOOST_TEST(node.state().s == Status::Election);
  node.called(4, node.new_coordinator(4));
  Ready other = node.ready(4);
  --other.election.number;
  BOOST_TEST(answer<Refused>(node.called(4, other)));
  BOOST_TEST(node.state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(new_coordinator_and_ready_name_the_life_that_answered_halt) {
  Shipped node(2, 2);
  node.restarts(1);
  node.coordinator_elect({id(1)});
  const Letter* announced = nullptr;
  for (const Letter& letter : node.world.sent())
    if (std::holds_alternative<NewCoordinator>(letter.message)) announced = &letter;
  BOOST_REQUIRE(announced);
  BOOST_TEST((life_called(*announced) == Incarnation{2}));
}

BOOST_AUTO_TEST_CASE(new_coordinator_or_ready_to_another_life_is_refused) {
  Shipped node;
  node.halt_by(4);
  NewCoordinator call = node.new_coordinator(4);
  ++call.receiver.value;
  BOOST_TEST(answer<Refused>(node.called(4, call)));
  node.called(4, node.new_coordinator(4));
  Ready ready = node.ready(4);
  ++ready.receiver.value;
  BOOST_TEST(answer<Refused>(node.called(4, ready)));
  BOOST_TEST(node.state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(a_halt_that_is_not_newer_is_neither_executed_nor_answered) {
  Shipped node;
  const Halt old = node.new_halt(4);
  node.halt_by(4);
  node.called(4, node.new_coordinator(4));
  const bully::State before = node.state();
  BOOST_TEST(node.called(4, Halt{node.election(4)}).empty());
  BOOST_TEST(node.called(4, old).empty());
  BOOST_TEST(node.state().s == before.s);
  BOOST_TEST(answer<Halted>(node.called(4, node.new_halt(4))));
}

BOOST_AUTO_TEST_CASE(the_halt_of_a_new_life_is_newer) {
  Shipped node;
  for (int times = 0; times < 3; ++times) node.halt_by(4);
  node.restarts(4);
  BOOST_TEST(answer<Halted>(node.called(4, Halt{{id(4), {2}, 1}})));
}

BOOST_AUTO_TEST_CASE(the_group_number_is_one_above_all_that_the_halted_and_the_node_have_seen) {
  Shipped node(3, 3);
  node.answered(2, Halted{41});
  node.answered(1, Halted{7});
  BOOST_TEST((*node.state().g == GroupNumber{42, id(3)}));
  node.give(Failed{id(2), {1}});
  node.answered(2, Halted{3});
  node.answered(1, Halted{7});
  BOOST_TEST((*node.state().g == GroupNumber{43, id(3)}));
}

BOOST_AUTO_TEST_CASE(a_group_number_that_is_not_above_the_own_is_refused) {
  Shipped node;
  node.normal_member_of(4);  // of group 100.4
  node.halt_by(4);
  NewCoordinator call = node.new_coordinator(4);
  call.group.counter = 100;
  BOOST_TEST(answer<Refused>(node.called(4, call)));
  call.group.counter = 101;
  node.called(4, call);
  BOOST_TEST(node.state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(every_save_lifts_the_limit_to_the_counter_and_16) {
  Shipped node;
  node.halt_by(4);
  const Actions& actions = node.called(4, node.new_coordinator(4));
  BOOST_REQUIRE(first<Save>(actions));
  BOOST_TEST(first<Save>(actions)->safe.counter_limit == 116U);
}

BOOST_AUTO_TEST_CASE(a_save_of_its_own_is_needed_only_beyond_the_limit) {
  Shipped node;
  node.halt_by(4);
  NewCoordinator call = node.new_coordinator(4);
  node.called(4, call);
  for (std::uint64_t counter = 101; counter <= 118; ++counter) {
    node.halt_by(4);
    call = node.new_coordinator(4);
    call.group.counter = counter;
    BOOST_TEST(saves(node.called(4, call)) == (counter == 117 ? 1U : 0U));
  }
}

BOOST_AUTO_TEST_CASE(a_restarted_node_counts_from_its_limit) {
  Shipped node;
  node.normal_member_of(4);  // of group 100.4
  node.world.fail(3);
  node.world.recover(3);
  BOOST_TEST(answer<Halted>(node.called(5, node.new_halt(5)))->counter == 116U);
}

BOOST_AUTO_TEST_CASE(a_fail_over_costs_one_commit_on_each_node) {
  World world = settled(5);
  world.fail(5);
  const std::size_t begin = world.journal().size();
  BOOST_REQUIRE(world.settle());
  for (std::uint32_t i = 1; i <= 4; ++i) {
    std::size_t commits = 0;
    for (std::size_t at = begin; at < world.journal().size(); ++at)
      if (world.journal()[at].starts_with(std::to_string(i)) &&
          world.journal()[at].find("Save") != std::string::npos)
        ++commits;
    BOOST_TEST(commits == 1U);
  }
}

BOOST_AUTO_TEST_CASE(are_you_normal_says_yes_only_to_the_coordinator_of_the_very_group) {
  Shipped node;
  node.normal_member_of(4);
  BOOST_TEST(answer<Normality>(node.called(4, AreYouNormal{node.group()}))->normal);
  BOOST_TEST(!answer<Normality>(node.called(5, AreYouNormal{node.group()}))->normal);
  BOOST_TEST(!answer<Normality>(node.called(4, AreYouNormal{{99, id(4)}}))->normal);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
