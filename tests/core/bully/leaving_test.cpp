#include "alone.hpp"

#include <muster/values/hash.hpp>

/// Leaving, timers and group numbers, as the protocol ships (docs/protocols/bully/decided.md). The
/// node is 3 of 5 unless a test says otherwise.

namespace muster::test {

namespace {

struct MemberOf4 : BullyAlone {
  MemberOf4() { normal_member_of(4); }
};

struct LeavingMember : MemberOf4 {
  LeavingMember() { give(Leaving{}); }
};

struct HaltedBy4 : BullyAlone {
  HaltedBy4() { halt_by(4); }
};

std::size_t saves(const Actions& actions) {
  return static_cast<std::size_t>(
      std::count_if(actions.begin(), actions.end(),
                    [](const Action& action) { return std::holds_alternative<Save>(action); }));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(leaving, BullyAlone)

BOOST_AUTO_TEST_CASE(leaving_ends_procedures_disarms_timers_and_stops) {
  normal_coordinator_of({id(1)});
  expire(Timer::check);
  const Actions& actions = give(Leaving{});
  BOOST_TEST(procedure<bully::Idle>());
  BOOST_TEST(node().timers().empty());
  BOOST_REQUIRE(first<Stop>(actions));
  BOOST_TEST(first<Stop>(actions)->cause.reason == StopReason::leaving);
}

BOOST_FIXTURE_TEST_CASE(a_leaving_node_ignores_failed_and_expired, LeavingMember) {
  const bully::State before = state();
  BOOST_TEST(give(Failed{id(4), {1}}).empty());
  for (Timer timer : {Timer::check, Timer::coordinator, Timer::retry})
    BOOST_TEST(would(Expired{timer}).empty());
  BOOST_TEST(state() == before);
}

// For a leaving node that has paused, the rule for Paused comes first. During the pause the other
// nodes may have elected another coordinator. If the node stayed Normal under its old coordinator,
// Assertion 1a would be violated until the node's `stop` has ended.
BOOST_FIXTURE_TEST_CASE(a_leaving_node_that_pauses_is_down_and_goes_on_leaving, LeavingMember) {
  BOOST_TEST(give(Paused{}).empty());
  BOOST_TEST(state().s == Status::Down);
  BOOST_TEST(!state().h.has_value());
  BOOST_TEST(first<Leave>(end_hook()));
}

BOOST_FIXTURE_TEST_CASE(a_leaving_node_still_answers_are_you_there, LeavingMember) {
  BOOST_TEST(answer<Here>(called(1, AreYouThere{})));
}

BOOST_FIXTURE_TEST_CASE(a_leaving_node_obeys_halt, LeavingMember) {
  BOOST_TEST(answer<Halted>(called(5, new_halt(5))));
  BOOST_TEST(state().s == Status::Election);
  BOOST_TEST(first<Leave>(end_hook()));
}

BOOST_AUTO_TEST_CASE(a_leaving_node_refuses_new_coordinator_and_ready) {
  BullyAlone halted;
  halted.normal_member_of(4);
  halted.give(Leaving{});
  halted.called(5, halted.new_halt(5));
  BOOST_TEST(answer<Refused>(halted.called(5, halted.new_coordinator(5))));
  BullyAlone node;
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
  normal_member_of(4);
  give(Leaving{});
  BOOST_TEST(answer<Normality>(called(4, AreYouNormal{group()}))->normal);
  called(5, new_halt(5));
  BOOST_TEST(!answer<Normality>(called(4, AreYouNormal{group()}))->normal);
}

BOOST_FIXTURE_TEST_CASE(when_it_has_stopped_s_is_down_and_it_leaves, MemberOf4) {
  BOOST_TEST(!first<Leave>(give(Leaving{})));
  const Actions& actions = end_hook();
  BOOST_REQUIRE(first<Leave>(actions));
  BOOST_TEST(first<Leave>(actions)->cause == LeaveCause::asked);
  BOOST_TEST(!node().up());
}

BOOST_FIXTURE_TEST_CASE(a_node_that_is_stopped_leaves_at_once, HaltedBy4) {
  BOOST_TEST(first<Leave>(give(Leaving{})));
}

BOOST_AUTO_TEST_CASE(a_node_stands_back_when_hooks_fail_twice_in_company_or_three_times_alone) {
  for (const NodeSet& up : {NodeSet{id(1)}, NodeSet{}}) {
    BullyAlone coordinator(2, 2);
    for (int times = 0; times < (up.empty() ? 3 : 2); ++times) {
      BOOST_REQUIRE(!coordinator.state().leaving.has_value());
      if (coordinator.procedure<bully::BackingOff>()) coordinator.expire(Timer::retry);
      coordinator.reorganizing(up);
      coordinator.end_hook(false);
    }
    BOOST_REQUIRE(first<Leave>(coordinator.actions()));
    BOOST_TEST(first<Leave>(coordinator.actions())->cause == LeaveCause::stood_back);
  }
}

// The node leaves after it has reported the tasks that it held. No other node waits for it.
BOOST_AUTO_TEST_CASE(a_member_whose_start_failed_twice_stands_back_when_it_is_halted) {
  BullyAlone member;
  for (int times = 0; times < 2; ++times) {
    member.starting_for(4);
    BOOST_TEST(answer<Refused>(member.end_hook(false)));
    BOOST_TEST(!member.state().leaving.has_value());
  }
  member.called(4, member.new_halt(4));
  member.called(4, member.new_coordinator(4));
  const Actions& actions = member.end_hook();
  BOOST_TEST(!answers_anything(actions));
  BOOST_REQUIRE(first<Leave>(actions));
  BOOST_TEST(first<Leave>(actions)->cause == LeaveCause::stood_back);
}

BOOST_AUTO_TEST_CASE(success_alone_does_not_make_up_for_failures_in_company) {
  BullyAlone node;
  node.starting_for(4);
  node.end_hook(false);
  node.expire(Timer::coordinator);
  node.unanswered(4);
  node.normal_coordinator_of({});
  node.starting_for(4);
  node.end_hook(false);
  node.called(4, node.new_halt(4));
  BOOST_TEST(first<Leave>(node.end_hook()));
}

BOOST_AUTO_TEST_CASE(failures_of_hooks_are_counted_since_the_node_was_last_normal) {
  BullyAlone member;
  for (int times = 0; times < 4; ++times) {
    member.starting_for(4);
    member.end_hook(false);
    member.normal_member_of(4);
  }
  BOOST_TEST(!member.state().leaving.has_value());
}

// --- Timers

BOOST_AUTO_TEST_CASE(
    coordinator_is_armed_whenever_no_own_procedure_runs_but_for_a_normal_coordinator) {
  BOOST_TEST(!armed(Timer::coordinator));
  answered(4, Here{});
  BOOST_TEST(armed(Timer::coordinator));
  halt_by(4);
  BOOST_TEST(armed(Timer::coordinator));
  expire(Timer::coordinator);
  BOOST_TEST(!armed(Timer::coordinator));
  normal_coordinator_of({id(1)});
  BOOST_TEST(!armed(Timer::coordinator));
}

BOOST_AUTO_TEST_CASE(
    coordinator_is_armed_anew_by_halt_new_coordinator_ready_and_any_question_from_c) {
  answered(4, Here{});
  BOOST_TEST(arms(called(4, new_halt(4)), Timer::coordinator));
  stop();
  BOOST_TEST(arms(called(4, new_coordinator(4)), Timer::coordinator));
  BOOST_TEST(arms(called(4, ready(4)), Timer::coordinator));
  end_hook();
  BOOST_TEST(arms(called(4, AreYouNormal{group()}), Timer::coordinator));
  BOOST_TEST(arms(called(4, AreYouThere{}), Timer::coordinator));
  BOOST_TEST(!arms(called(5, AreYouThere{}), Timer::coordinator));
  BOOST_TEST(!arms(called(1, AreYouThere{}), Timer::coordinator));
}

BOOST_AUTO_TEST_CASE(check_is_armed_in_a_normal_coordinator_and_while_longer_calls_are_out) {
  BOOST_TEST(!armed(Timer::check));
  coordinator_elect({id(1)});
  BOOST_TEST(armed(Timer::check));
  reorganizing({id(1)});
  BOOST_TEST(armed(Timer::check));
  end_hook();
  BOOST_TEST(armed(Timer::check));
  answered(1, Installed{});
  end_hook();
  BOOST_TEST(armed(Timer::check));
  halt_by(5);
  BOOST_TEST(!armed(Timer::check));
}

BOOST_AUTO_TEST_CASE(check_is_armed_anew_when_check_begins) {
  normal_coordinator_of({id(1)});
  BOOST_TEST(arms(expire(Timer::check), Timer::check));
  BOOST_TEST(!arms(answered(1, Normality{true}), Timer::check));
}

BOOST_AUTO_TEST_CASE(check_asks_in_parallel_and_no_node_that_is_still_being_asked) {
  normal_coordinator_of({id(1)});
  BOOST_TEST(sent<AreYouNormal>(expire(Timer::check)) == Nodes({1, 2, 4, 5}));
  answered(1, Normality{true});
  BOOST_TEST(sent<AreYouNormal>(expire(Timer::check)) == Nodes({1}));
}

BOOST_AUTO_TEST_CASE(check_begins_only_when_no_procedure_runs_but_checking) {
  normal_coordinator_of({id(1)});
  expire(Timer::check);
  answered(2, Normality{false});
  BOOST_REQUIRE(procedure<bully::SeekingHigher>());
  BOOST_REQUIRE(state().s == Status::Normal);
  BOOST_TEST(sent<AreYouNormal>(expire(Timer::check)).empty());
  BOOST_TEST(armed(Timer::check));
}

// --- Group numbers

BOOST_AUTO_TEST_CASE(every_letter_names_the_life_of_its_sender) {
  BullyAlone node(2, 2);
  node.world.fail(2);
  node.world.recover(2);
  node.normal_coordinator_of({id(1)});
  for (const Letter& letter : node.world.sent())
    if (std::holds_alternative<Ready>(letter.message))
      BOOST_TEST(letter.incarnation == Incarnation{2});
}

BOOST_FIXTURE_TEST_CASE(elections_are_matched_exactly, HaltedBy4) {
  NewCoordinator old = new_coordinator(4);
  halt_by(4);
  BOOST_TEST(answer<Refused>(called(4, old)));
  BOOST_TEST(state().s == Status::Election);
  called(4, new_coordinator(4));
  Ready other = ready(4);
  --other.election.number;
  BOOST_TEST(answer<Refused>(called(4, other)));
  BOOST_TEST(state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(new_coordinator_and_ready_name_the_life_that_answered_halt) {
  BullyAlone node(2, 2);
  node.restarts(1);
  node.coordinator_elect({id(1)});
  const Letter* announced = nullptr;
  for (const Letter& letter : node.world.sent())
    if (std::holds_alternative<NewCoordinator>(letter.message)) announced = &letter;
  BOOST_REQUIRE(announced);
  BOOST_TEST(life_called(*announced) == Incarnation{2});
}

BOOST_FIXTURE_TEST_CASE(new_coordinator_or_ready_to_another_life_is_refused, HaltedBy4) {
  NewCoordinator call = new_coordinator(4);
  ++call.receiver.value;
  BOOST_TEST(answer<Refused>(called(4, call)));
  called(4, new_coordinator(4));
  Ready wrong = ready(4);
  ++wrong.receiver.value;
  BOOST_TEST(answer<Refused>(called(4, wrong)));
  BOOST_TEST(state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(a_halt_that_is_not_newer_is_neither_executed_nor_answered) {
  const Halt old = new_halt(4);
  halt_by(4);
  called(4, new_coordinator(4));
  const bully::State before = state();
  BOOST_TEST(called(4, Halt{election(4)}).empty());
  BOOST_TEST(called(4, old).empty());
  BOOST_TEST(state().s == before.s);
  BOOST_TEST(answer<Halted>(called(4, new_halt(4))));
}

BOOST_AUTO_TEST_CASE(the_halt_of_a_new_life_is_newer) {
  for (int times = 0; times < 3; ++times) halt_by(4);
  restarts(4);
  BOOST_TEST(answer<Halted>(called(4, Halt{{id(4), {2}, 1}})));
}

BOOST_AUTO_TEST_CASE(the_group_number_is_one_above_all_that_the_halted_and_the_node_have_seen) {
  BullyAlone node(3, 3);
  node.answered(2, Halted{41});
  node.answered(1, Halted{7});
  BOOST_TEST(*node.state().g == (GroupNumber{42, id(3)}));
  node.give(Failed{id(2), {1}});
  node.answered(2, Halted{3});
  node.answered(1, Halted{7});
  BOOST_TEST(*node.state().g == (GroupNumber{43, id(3)}));
}

BOOST_AUTO_TEST_CASE(a_group_number_that_is_not_above_the_own_is_refused) {
  normal_member_of(4);  // of group 100.4
  halt_by(4);
  NewCoordinator call = new_coordinator(4);
  call.group.counter = 100;
  BOOST_TEST(answer<Refused>(called(4, call)));
  call.group.counter = 101;
  called(4, call);
  BOOST_TEST(state().s == Status::Reorganization);
}

BOOST_FIXTURE_TEST_CASE(every_save_lifts_the_limit_to_the_counter_and_16, HaltedBy4) {
  const Actions& actions = called(4, new_coordinator(4));
  BOOST_REQUIRE(first<Save>(actions));
  BOOST_TEST(first<Save>(actions)->safe.counter_limit == 116U);
}

BOOST_FIXTURE_TEST_CASE(a_save_of_its_own_is_needed_only_beyond_the_limit, HaltedBy4) {
  NewCoordinator call = new_coordinator(4);
  called(4, call);
  for (std::uint64_t counter = 101; counter <= 118; ++counter) {
    halt_by(4);
    call = new_coordinator(4);
    call.group.counter = counter;
    BOOST_TEST(saves(called(4, call)) == (counter == 117 ? 1U : 0U));
  }
}

BOOST_AUTO_TEST_CASE(a_restarted_node_counts_from_its_limit) {
  normal_member_of(4);  // of group 100.4
  world.fail(3);
  world.recover(3);
  BOOST_TEST(answer<Halted>(called(5, new_halt(5)))->counter == 116U);
}

BOOST_AUTO_TEST_CASE(a_fail_over_costs_one_commit_on_each_node) {
  World cluster = settled(5);
  cluster.fail(5);
  const std::size_t begin = cluster.journal().size();
  BOOST_REQUIRE(cluster.settle());
  for (std::uint32_t i = 1; i <= 4; ++i) {
    std::size_t commits = 0;
    for (std::size_t at = begin; at < cluster.journal().size(); ++at)
      if (cluster.journal()[at].starts_with(std::to_string(i)) &&
          cluster.journal()[at].find("Save") != std::string::npos)
        ++commits;
    BOOST_TEST(commits == 1U);
  }
}

BOOST_FIXTURE_TEST_CASE(are_you_normal_says_yes_only_to_the_coordinator_of_the_very_group,
                        MemberOf4) {
  BOOST_TEST(answer<Normality>(called(4, AreYouNormal{group()}))->normal);
  BOOST_TEST(!answer<Normality>(called(5, AreYouNormal{group()}))->normal);
  BOOST_TEST(!answer<Normality>(called(4, AreYouNormal{{99, id(4)}}))->normal);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
