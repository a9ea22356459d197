#include "alone.hpp"

/// Stopping and installing, as the protocol ships (docs/protocols/bully/decided.md). The node is 3
/// of 5 unless a test says otherwise.

namespace muster::test {

BOOST_FIXTURE_TEST_SUITE(stopping, BullyAlone)

BOOST_AUTO_TEST_CASE(stop_ends_whatever_procedure_runs) {
  BullyAlone seeking;
  BOOST_REQUIRE(seeking.procedure<bully::SeekingHigher>());
  seeking.called(5, seeking.new_halt(5));
  BOOST_TEST(seeking.procedure<bully::Idle>());
  BullyAlone halting(3, 3);
  BOOST_REQUIRE(halting.procedure<bully::HaltingLower>());
  halting.called(1, halting.new_halt(1));
  BOOST_TEST(halting.procedure<bully::Idle>());
  BullyAlone announcing;
  announcing.coordinator_elect({id(1)});
  announcing.called(5, announcing.new_halt(5));
  BOOST_TEST(announcing.procedure<bully::Idle>());
  BullyAlone checking;
  checking.normal_coordinator_of({id(1)});
  checking.expire(Timer::check);
  checking.called(5, checking.new_halt(5));
  BOOST_TEST(checking.procedure<bully::Idle>());
  BullyAlone probing;
  probing.normal_member_of(4);
  probing.expire(Timer::coordinator);
  probing.called(5, probing.new_halt(5));
  BOOST_TEST(probing.procedure<bully::Idle>());
}

BOOST_AUTO_TEST_CASE(a_life_begins_owing_one_stop) {
  BOOST_TEST(state().application == Activity::Owing);
  const Actions& actions = called(4, new_halt(4));
  BOOST_REQUIRE(first<Stop>(actions));
  BOOST_TEST(first<Stop>(actions)->owed);
  BOOST_TEST(state().application == Activity::Stopping);
}

BOOST_AUTO_TEST_CASE(a_start_that_ended_owes_exactly_one_stop) {
  normal_member_of(4);
  BOOST_TEST(state().application == Activity::Working);
  BOOST_TEST(first<Stop>(called(5, new_halt(5)))->owed);
  end_hook();
  BOOST_TEST(state().application == Activity::Idle);
  const Actions& again = called(5, new_halt(5));
  BOOST_TEST((!first<Stop>(again) || !first<Stop>(again)->owed));
}

BOOST_AUTO_TEST_CASE(a_start_that_failed_owes_exactly_one_stop) {
  starting_for(4);
  end_hook(false);
  BOOST_TEST(state().application == Activity::Owing);
  BOOST_TEST(first<Stop>(called(5, new_halt(5)))->owed);
}

BOOST_AUTO_TEST_CASE(a_start_that_was_cancelled_owes_exactly_one_stop) {
  starting_for(4);
  BOOST_TEST(state().application == Activity::Starting);
  BOOST_TEST(first<Stop>(called(5, new_halt(5)))->owed);
  BOOST_TEST(node().application.running->cancelled);
  end_hook();  // the cancelled `start`,
  BOOST_TEST(state().application == Activity::Stopping);
  end_hook();  // and its `stop`
  BOOST_TEST(state().application == Activity::Idle);
}

BOOST_AUTO_TEST_CASE(stop_of_a_reorganize_only_waits_for_it_and_the_last_report_stands) {
  reorganizing({id(1)});
  const Report before = state().report;
  const Actions& actions = called(5, new_halt(5));
  BOOST_REQUIRE(first<Stop>(actions));
  BOOST_TEST(!first<Stop>(actions)->owed);
  BOOST_TEST(state().application == Activity::Stopping);
  BOOST_TEST(!answer<Joined>(called(5, new_coordinator(5))));
  const auto* joined = answer<Joined>(end_hook());
  BOOST_REQUIRE(joined);
  BOOST_TEST(joined->holdings.report == before);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_halted_again_keeps_its_report) {
  normal_member_of(4);
  halt_by(4);
  const Report before = state().report;
  halt_by(5);
  const auto* joined = answer<Joined>(called(5, new_coordinator(5)));
  BOOST_REQUIRE(joined);
  BOOST_TEST(joined->holdings.report == before);
}

BOOST_AUTO_TEST_CASE(the_application_is_part_of_the_state_and_of_the_view) {
  BullyAlone node(2, 2);
  BOOST_TEST(node.view().application == Activity::Stopping);
  node.reorganizing({id(1)});
  BOOST_TEST(node.view().application == Activity::Reorganizing);
  node.end_hook();
  BOOST_TEST(node.view().application == Activity::Starting);
  node.end_hook();
  BOOST_TEST(node.view().application == Activity::Working);
}

BOOST_AUTO_TEST_CASE(halt_is_answered_at_once_with_the_highest_counter_seen) {
  normal_member_of(4);
  const std::uint64_t seen = group().counter;
  const Actions& actions = called(5, new_halt(5));
  BOOST_TEST(state().application == Activity::Stopping);
  BOOST_REQUIRE(answer<Halted>(actions));
  BOOST_TEST(answer<Halted>(actions)->counter == seen);
}

BOOST_AUTO_TEST_CASE(permits_are_revoked_before_halt_is_answered) {
  normal_member_of(4);
  const Actions& actions = called(5, new_halt(5));
  BOOST_TEST(std::holds_alternative<Stop>(actions.front()));
}

BOOST_AUTO_TEST_CASE(new_coordinator_is_answered_when_the_node_is_stopped_with_its_report) {
  normal_member_of(4);
  const GroupNumber held = group();
  called(5, new_halt(5));
  BOOST_TEST(!answers_anything(called(5, new_coordinator(5))));
  BOOST_TEST(state().s == Status::Reorganization);
  const auto* joined = answer<Joined>(end_hook());
  BOOST_REQUIRE(joined);
  BOOST_TEST(joined->holdings.report == *node().application.last_report);
  BOOST_TEST(joined->holdings.group == held);
  BOOST_TEST(joined->holdings.definition.has_value());
}

BOOST_AUTO_TEST_CASE(the_report_says_whether_safe_storage_was_empty_when_the_life_began) {
  halt_by(4);
  BOOST_TEST(answer<Joined>(called(4, new_coordinator(4)))->holdings.empty);
  called(4, ready(4));
  end_hook();
  world.fail(3);
  world.recover(3);
  halt_by(5);
  BOOST_TEST(!answer<Joined>(called(5, new_coordinator(5)))->holdings.empty);
}

BOOST_AUTO_TEST_CASE(stop_answers_a_waiting_new_coordinator_with_refused) {
  struct Waiting : BullyAlone {
    Waiting() {
      normal_member_of(4);
      called(4, new_halt(4));
      called(4, new_coordinator(4));
    }
  };
  Waiting halted;
  const Actions& actions = halted.called(5, halted.new_halt(5));
  BOOST_TEST(answer<Refused>(actions));
  BOOST_TEST(answer<Halted>(actions));
  BOOST_TEST(!answer<Joined>(halted.end_hook()));
  BOOST_TEST(answer<Refused>(Waiting().give(Paused{})));
  BOOST_TEST(answer<Refused>(Waiting().give(Leaving{})));
}

BOOST_AUTO_TEST_CASE(stop_answers_a_waiting_ready_with_refused) {
  reorganization_of(4);
  BOOST_TEST(!answers_anything(called(4, ready(4))));
  BOOST_TEST(answer<Refused>(called(5, new_halt(5))));
}

BOOST_AUTO_TEST_CASE(an_own_election_answers_a_waiting_ready_with_refused) {
  starting_for(4);
  expire(Timer::coordinator);
  unanswered(4);
  BOOST_TEST(answer<Refused>(unanswered(5)));
}

BOOST_AUTO_TEST_CASE(the_own_stop_begins_with_the_halts_and_runs_beside_them) {
  BullyAlone node(3, 3);
  BOOST_TEST(std::holds_alternative<Stop>(node.actions().front()));
  BOOST_TEST(sent<Halt>(node.actions()) == Nodes({2}));
  node.answered(2, Halted{});
  BOOST_TEST(sent<NewCoordinator>(node.answered(1, Halted{})) == Nodes({1, 2}));
  BOOST_TEST(node.state().application == Activity::Stopping);
}

BOOST_AUTO_TEST_CASE(reorganize_waits_for_every_new_coordinator_and_for_the_own_stop) {
  BullyAlone own_last(3, 3);
  own_last.answered(2, Halted{});
  own_last.answered(1, Halted{});
  own_last.answered(1, Joined{});
  BOOST_TEST(!first<Reorganize>(own_last.answered(2, Joined{})));
  BOOST_TEST(first<Reorganize>(own_last.end_hook()));

  BullyAlone member_last(3, 3);
  member_last.answered(2, Halted{});
  member_last.answered(1, Halted{});
  member_last.answered(1, Joined{});
  BOOST_TEST(!first<Reorganize>(member_last.end_hook()));
  BOOST_TEST(first<Reorganize>(member_last.answered(2, Joined{})));
}

BOOST_AUTO_TEST_CASE(only_stop_or_its_own_end_ends_a_procedure) {
  halt_by(4);
  election_begins();
  called(4, new_coordinator(4));
  BOOST_TEST(state().s == Status::Reorganization);
  BOOST_TEST(procedure<bully::SeekingHigher>());
  BullyAlone probing;
  probing.reorganization_of(4);
  probing.expire(Timer::coordinator);
  probing.called(4, probing.ready(4));
  BOOST_TEST(probing.procedure<bully::Probing>());
}

// --- Installing

BOOST_AUTO_TEST_CASE(ready_makes_the_definition_durable_and_then_starts) {
  reorganization_of(4);
  const Actions& actions = called(4, ready(4, "a task"));
  BOOST_REQUIRE_GE(actions.size(), 2U);
  BOOST_REQUIRE(std::holds_alternative<Save>(actions[0]));
  BOOST_TEST(std::get<Save>(actions[0]).safe.assigned->definition.data == "a task");
  BOOST_TEST(std::holds_alternative<Start>(actions[1]));
  BOOST_TEST(!answers_anything(actions));
}

BOOST_AUTO_TEST_CASE(a_member_is_normal_and_answers_ready_when_it_has_started) {
  starting_for(4);
  BOOST_TEST(state().s == Status::Reorganization);
  BOOST_TEST(answer<Installed>(end_hook()));
  BOOST_TEST(state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(a_start_that_fails_is_answered_with_refused_and_why) {
  starting_for(4);
  const auto* refused = answer<Refused>(end_hook(false));
  BOOST_REQUIRE(refused);
  BOOST_TEST(refused->why.find("it failed") != std::string::npos);
  BOOST_TEST(state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(the_coordinator_sends_all_ready_then_saves_then_starts_its_own) {
  reorganizing({id(1), id(2)});
  const Actions& actions = end_hook();
  BOOST_REQUIRE_GE(actions.size(), 4U);
  BOOST_TEST(sent<Ready>({actions[0], actions[1]}) == Nodes({1, 2}));
  BOOST_TEST(std::holds_alternative<Save>(actions[2]));
  BOOST_TEST(std::holds_alternative<Start>(actions[3]));
}

BOOST_AUTO_TEST_CASE(the_coordinator_is_normal_when_all_of_it_is_there) {
  BullyAlone own_last;
  own_last.making_ready({id(1)});
  own_last.answered(1, Installed{});
  BOOST_TEST(own_last.state().s == Status::Reorganization);
  own_last.end_hook();
  BOOST_TEST(own_last.state().s == Status::Normal);
  BullyAlone member_last;
  member_last.making_ready({id(1)});
  member_last.end_hook();
  BOOST_TEST(member_last.state().s == Status::Reorganization);
  member_last.answered(1, Installed{});
  BOOST_TEST(member_last.state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(the_end_of_an_abandoned_hook_is_dropped_however_late_it_comes) {
  reorganizing({id(1)});
  const Ticket old = state().ticket;
  called(5, new_halt(5));
  stop();
  called(5, new_coordinator(5));
  bully::State after = state();
  const Config& config = node().config;
  BOOST_TEST(bully::step(config, after, Reorganized{old, Definition{"late"}}).empty());
  BOOST_TEST(bully::step(config, after, HookFailed{old, Hook::reorganize, "late"}).empty());
  BOOST_TEST(state() == after);
}

// When the abandoned hook ends, a hook of the same kind is already running for another group.
BOOST_AUTO_TEST_CASE(the_end_of_an_abandoned_hook_is_not_taken_for_that_of_the_next) {
  reorganizing({id(1)});
  const Ticket plan = state().ticket;
  end_hook();
  const Ticket start = state().ticket;
  called(5, new_halt(5));
  stop();
  reorganizing({id(1)});
  const Config& config = node().config;
  const auto ignores = [&](const Event& late) {
    bully::State after = state();
    return bully::step(config, after, late).empty() && after == state();
  };
  BOOST_TEST(ignores(Reorganized{plan, Definition{"late"}}));
  BOOST_TEST(ignores(HookFailed{plan, Hook::reorganize, "late"}));
  end_hook();
  BOOST_TEST(state().application == Activity::Starting);
  BOOST_TEST(ignores(Started{start}));
  BOOST_TEST(ignores(HookFailed{start, Hook::start, "late"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
