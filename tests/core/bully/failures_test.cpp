#include "alone.hpp"

/// Starting over, calls and failures, as the protocol ships (docs/protocols/bully/decided.md). The
/// node is 3 of 5 unless a test says otherwise.

namespace muster::test {

namespace {

const Refused refused{"no"};

struct Shipped : BullyAlone {
  using BullyAlone::BullyAlone;

  /// Checks that the node has started its election again by itself. Its first question goes to node
  /// 4.
  void started_over() {
    BOOST_TEST(state().s == Status::Election);
    BOOST_TEST(view().halted_by.value() == id(3));
    BOOST_TEST(state().up.empty());
    BOOST_TEST(procedure<bully::SeekingHigher>());
    BOOST_TEST(sent<AreYouThere>(actions()) == Nodes({4}));
  }
  /// A member refuses its NewCoordinator.
  void is_refused() {
    coordinator_elect({id(1)});
    answered(1, refused);
  }
  const Actions& lower_asks(std::uint32_t node) { return called(node, AreYouThere{}); }
};

/// The states in which a node that has won its election waits for answers that may take long.
constexpr auto on_its_way = {&BullyAlone::coordinator_elect, &BullyAlone::reorganizing,
                             &BullyAlone::making_ready};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(failures, Shipped)

// --- Starting over

BOOST_AUTO_TEST_CASE(an_unanswered_or_refused_new_coordinator_starts_over) {
  Shipped unanswered;
  unanswered.coordinator_elect({id(1)});
  unanswered.unanswered(1);
  unanswered.started_over();
  Shipped refuses;
  refuses.is_refused();
  refuses.started_over();
}

BOOST_AUTO_TEST_CASE(an_unanswered_or_refused_ready_starts_over) {
  Shipped unanswered;
  unanswered.making_ready({id(1)});
  unanswered.unanswered(1);
  unanswered.started_over();
  BOOST_TEST(first<Stop>(unanswered.actions())->owed);  // its own `start` is cancelled
  Shipped refuses;
  refuses.making_ready({id(1)});
  refuses.answered(1, refused);
  refuses.started_over();
}

BOOST_AUTO_TEST_CASE(an_unanswered_question_starts_over) {
  reorganizing({id(1), id(2)});
  expire(Timer::check);
  answered(1, Here{});
  unanswered(2);
  started_over();
}

BOOST_AUTO_TEST_CASE(a_member_proven_dead_starts_over_at_once) {
  for (const auto& goes_to : on_its_way) {
    Shipped node;
    (node.*goes_to)({id(1)});
    node.failed(1);
    node.started_over();
  }
}

BOOST_AUTO_TEST_CASE(a_node_that_is_halted_and_proven_dead_is_as_if_it_had_not_answered) {
  Shipped node(3, 3);
  node.answered(2, Halted{});
  node.failed(2);
  BOOST_TEST(sent<NewCoordinator>(node.answered(1, Halted{})) == Nodes({1}));
  BOOST_TEST(node.state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(the_proof_of_a_former_life_takes_no_halted_node) {
  Shipped node(3, 3);
  node.restarts(2);
  node.answered(2, Halted{});
  node.failed(2);
  BOOST_TEST(sent<NewCoordinator>(node.answered(1, Halted{})) == Nodes({1, 2}));
}

BOOST_AUTO_TEST_CASE(a_reorganize_that_fails_starts_over) {
  reorganizing({id(1)});
  end_hook(false);
  started_over();
}

BOOST_AUTO_TEST_CASE(an_own_start_that_fails_starts_over) {
  making_ready({id(1)});
  end_hook(false);
  started_over();
  BOOST_TEST(first<Stop>(actions())->owed);
}

BOOST_AUTO_TEST_CASE(a_member_is_never_dropped_instead) {
  coordinator_elect({id(1), id(2)});
  answered(2, Joined{});
  answered(1, refused);
  stop();
  BOOST_TEST(!first<Reorganize>(actions()));
  BOOST_TEST(state().s == Status::Election);
}

BOOST_AUTO_TEST_CASE(timeout_of_a_coordinator_elect_without_procedure_starts_over) {
  coordinator_elect({id(1)});
  stop();
  bully::State forced = state();  // as the protocol ships, no event leads to this state
  forced.procedure = bully::Idle{};
  const Actions actions = bully::step(node().config, forced, Expired{Timer::coordinator});
  BOOST_TEST(forced.s == Status::Election);
  BOOST_TEST(sent<AreYouThere>(actions) == Nodes({4}));
}

BOOST_AUTO_TEST_CASE(the_first_start_over_is_immediate_and_then_it_waits_from_T_to_8_T) {
  Shipped node(3, 3);
  node.is_refused();
  BOOST_TEST(node.procedure<bully::HaltingLower>());
  std::vector<unsigned> levels;
  for (int times = 0; times < 5; ++times) {
    node.is_refused();
    BOOST_REQUIRE(node.procedure<bully::BackingOff>());
    levels.push_back(first<Arm>(node.actions())->level);
    node.expire(Timer::retry);
    BOOST_TEST(node.procedure<bully::HaltingLower>());
    BOOST_TEST(!first<Disarm>(node.actions()));
  }
  BOOST_TEST(levels == std::vector<unsigned>({0, 1, 2, 3, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(after_a_proven_death_it_does_not_wait) {
  Shipped node(3, 3);
  for (int times = 0; times < 4; ++times) {
    node.coordinator_elect({id(1)});
    node.give(Failed{id(1), {1}});
    BOOST_TEST(node.procedure<bully::HaltingLower>());
  }
}

BOOST_AUTO_TEST_CASE(waiting_ends_with_any_halt) {
  Shipped node(3, 4);
  for (int times = 0; times < 2; ++times) {
    node.is_refused();
  }
  BOOST_REQUIRE(node.procedure<bully::BackingOff>());
  node.called(1, node.new_halt(1));
  BOOST_TEST(node.procedure<bully::Idle>());
  BOOST_TEST(!node.node().timers().contains(Timer::retry));
  BOOST_TEST(node.would(Expired{Timer::retry}).empty());
}

BOOST_AUTO_TEST_CASE(the_level_falls_back_after_ten_checks_in_a_row_that_found_nothing) {
  for (const int checks : {9, 10}) {
    Shipped node(2, 2);
    node.is_refused();
    node.normal_coordinator_of({id(1)});
    for (int times = 0; times < checks; ++times) {
      node.expire(Timer::check);
      node.answered(1, Normality{true});
    }
    node.expire(Timer::check);  // the next Check finds something
    node.answered(1, Normality{false});
    node.is_refused();
    BOOST_TEST((node.procedure<bully::BackingOff>() != nullptr) == (checks == 9));
  }
}

BOOST_AUTO_TEST_CASE(the_level_falls_back_when_the_node_is_normal_as_a_member) {
  Shipped node(2, 3);
  node.is_refused();
  node.normal_member_of(3);
  node.expire(Timer::coordinator);
  node.unanswered(3);
  node.is_refused();
  BOOST_TEST(!node.procedure<bully::BackingOff>());
}

// --- Calls and failures

BOOST_AUTO_TEST_CASE(halt_and_the_questions_are_calls_to_a_node_the_others_to_a_life) {
  const auto named = [](Message message) {
    return life_called({{}, {}, {}, {}, std::move(message)});
  };
  BOOST_TEST(!named(AreYouThere{}));
  BOOST_TEST(!named(AreYouNormal{}));
  BOOST_TEST(!named(Halt{}));
  BOOST_TEST(named(NewCoordinator{{}, {7}, {}}) == Incarnation{7});
  BOOST_TEST(named(Ready{{}, {7}, {}, {}}) == Incarnation{7});
}

BOOST_AUTO_TEST_CASE(failed_starts_timeout_when_it_is_the_coordinator) {
  Shipped normal;
  normal.normal_member_of(4);
  BOOST_TEST(asked_whether_there(normal.failed(4)) == Nodes({4}));
  BOOST_TEST(normal.procedure<bully::Probing>());
  BOOST_TEST(normal.state().s == Status::Normal);
  Shipped reorganization;
  reorganization.reorganization_of(4);
  BOOST_TEST(asked_whether_there(reorganization.failed(4)) == Nodes({4}));
}

BOOST_AUTO_TEST_CASE(failed_starts_timeout_when_it_is_h_in_election) {
  halt_by(4);
  BOOST_TEST(sent<AreYouThere>(failed(4)) == Nodes({4}));  // no question is spared
  BOOST_TEST(procedure<bully::SeekingHigher>());
}

BOOST_AUTO_TEST_CASE(failed_starts_timeout_when_it_is_who_answered_the_last_phase_a) {
  unanswered(4);
  answered(5, Here{});
  failed(4);
  BOOST_TEST(procedure<bully::Idle>());
  failed(5);
  BOOST_TEST(procedure<bully::SeekingHigher>());
}

BOOST_AUTO_TEST_CASE(failed_of_an_older_life_starts_nothing) {
  restarts(4);
  normal_member_of(4);
  BOOST_TEST(failed(4).empty());
  BOOST_TEST(procedure<bully::Idle>());
}

BOOST_AUTO_TEST_CASE(failed_of_a_former_life_of_a_member_loses_nobody) {
  Shipped announcing;
  announcing.restarts(1);
  announcing.coordinator_elect({id(1)});
  BOOST_TEST(announcing.failed(1).empty());
  BOOST_TEST(announcing.procedure<bully::Announcing>());
  Shipped normal;
  normal.restarts(1);
  normal.normal_coordinator_of({id(1)});
  BOOST_TEST(normal.failed(1).empty());
  BOOST_TEST(normal.state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(failed_of_any_other_node_starts_nothing) {
  normal_member_of(4);
  BOOST_TEST(failed(5).empty());
  BOOST_TEST(failed(1).empty());
}

BOOST_AUTO_TEST_CASE(failed_starts_nothing_while_a_procedure_but_probing_runs) {
  Shipped halting(3, 3);
  halting.failed(2);  // node 3 is halting node 2: the Halt reaches the next life, or is refused
  BOOST_TEST(halting.procedure<bully::HaltingLower>()->node == id(2));
  Shipped seeking;
  seeking.halt_by(5);
  seeking.election_begins();
  BOOST_TEST(seeking.failed(5).empty());
  Shipped probing;
  probing.normal_member_of(4);
  probing.expire(Timer::coordinator);
  probing.failed(4);
  BOOST_TEST(probing.procedure<bully::Probing>());
}

BOOST_AUTO_TEST_CASE(a_member_proven_dead_is_an_election_in_normal) {
  normal_coordinator_of({id(1)});
  BOOST_TEST(sent<AreYouThere>(failed(1)) == Nodes({4}));
  BOOST_TEST(procedure<bully::SeekingHigher>());
  BOOST_TEST(state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_answer_check_is_an_election) {
  normal_coordinator_of({id(1)});
  expire(Timer::check);
  unanswered(2);  // node 2 is no member
  BOOST_TEST(procedure<bully::Checking>());
  unanswered(1);
  BOOST_TEST(procedure<bully::SeekingHigher>());
}

BOOST_AUTO_TEST_CASE(
    a_node_just_asked_in_vain_is_not_asked_again_in_the_election_that_this_causes) {
  Shipped highest(2, 3);
  highest.normal_member_of(3);
  highest.expire(Timer::coordinator);
  BOOST_TEST(sent<Halt>(highest.unanswered(3)) == Nodes({1}));
  Shipped node(2, 5);
  node.normal_member_of(5);
  node.expire(Timer::coordinator);
  BOOST_TEST(sent<AreYouThere>(node.unanswered(5)) == Nodes({3}));
  BOOST_TEST(sent<AreYouThere>(node.unanswered(3)) == Nodes({4}));
}

BOOST_AUTO_TEST_CASE(it_is_asked_when_something_of_it_was_heard_before_the_questions_are_sent) {
  Shipped node(2, 5);
  node.normal_member_of(5);
  node.expire(Timer::coordinator);
  node.unanswered(5);
  node.restarts(5);
  node.called(5, AreYouNormal{});
  BOOST_TEST(sent<AreYouThere>(node.unanswered(3)) == Nodes({4, 5}));
}

BOOST_AUTO_TEST_CASE(it_is_asked_again_in_any_later_election) {
  Shipped node(2, 3);
  node.normal_member_of(3);
  node.expire(Timer::coordinator);
  node.unanswered(3);
  node.halt_by(1);
  BOOST_TEST(sent<AreYouThere>(node.expire(Timer::coordinator)) == Nodes({3}));
}

BOOST_AUTO_TEST_CASE(a_node_whose_question_went_unanswered_is_halted_all_the_same) {
  Shipped node(3, 3);
  node.reorganizing({id(1), id(2)});
  node.expire(Timer::check);
  BOOST_TEST(sent<Halt>(node.unanswered(2)) == Nodes({2}));
}

BOOST_AUTO_TEST_CASE(phase_a_asks_the_nearest_first_and_the_rest_together) {
  Shipped node(1, 5);
  BOOST_TEST(sent<AreYouThere>(node.actions()) == Nodes({2}));
  BOOST_TEST(sent<AreYouThere>(node.unanswered(2)) == Nodes({3, 4, 5}));
  node.unanswered(3);
  node.answered(4, Here{});
  BOOST_TEST(node.procedure<bully::Idle>());
}

BOOST_AUTO_TEST_CASE(while_longer_calls_are_out_all_in_up_are_asked_after_one_check_period) {
  for (const auto& goes_to : on_its_way) {
    Shipped node;
    (node.*goes_to)({id(1), id(2)});
    BOOST_TEST(sent<AreYouThere>(node.actions()).empty());
    BOOST_TEST(sent<AreYouThere>(node.expire(Timer::check)) == Nodes({1, 2}));
  }
}

BOOST_AUTO_TEST_CASE(members_that_answer_are_asked_again_after_the_next_period) {
  reorganizing({id(1), id(2)});
  expire(Timer::check);
  answered(1, Here{});
  BOOST_TEST(procedure<bully::Reorganizing>());
  BOOST_TEST(sent<AreYouThere>(expire(Timer::check)) == Nodes({1}));  // node 2 is still being asked
}

BOOST_AUTO_TEST_CASE(a_question_from_a_lower_node_makes_a_normal_coordinator_ask_it_at_once) {
  normal_coordinator_of({id(2)});
  const Actions& actions = lower_asks(1);
  BOOST_TEST(answer<Here>(actions));
  BOOST_TEST(sent<AreYouNormal>(actions) == Nodes({1}));
  BOOST_TEST(sent<AreYouNormal>(lower_asks(1)).empty());  // node 1 is still being asked
  answered(1, Normality{false});
  BOOST_TEST(procedure<bully::SeekingHigher>());
}

BOOST_AUTO_TEST_CASE(a_question_from_a_higher_node_or_to_a_member_does_not) {
  Shipped coordinator;
  coordinator.normal_coordinator_of({id(2)});
  BOOST_TEST(sent<AreYouNormal>(coordinator.lower_asks(4)).empty());
  Shipped member;
  member.normal_member_of(4);
  BOOST_TEST(sent<AreYouNormal>(member.lower_asks(1)).empty());
}

// --- Paused

BOOST_AUTO_TEST_CASE(paused_does_in_every_status_what_recovery_does_in_the_same_life) {
  for (int status = 0; status < 6; ++status) {
    Shipped node;
    if (status == 1) node.halt_by(4);
    if (status == 2) node.reorganization_of(4);
    if (status == 3) node.normal_member_of(4);
    if (status == 4) node.reorganizing({id(1)});
    if (status == 5) node.normal_coordinator_of({id(1)});
    const Incarnation life = node.own_life();
    const bool works = node.state().application == Activity::Working;
    const Actions& actions = node.give(Paused{});
    BOOST_TEST(node.state().s == Status::Down);
    BOOST_TEST(!node.state().h.has_value());
    BOOST_TEST(!node.state().c.has_value());
    BOOST_TEST(node.state().up.empty());
    BOOST_TEST(sent<AreYouThere>(actions) == Nodes({4}));
    BOOST_TEST(node.own_life() == life);
    if (works) BOOST_TEST(first<Stop>(actions)->cause.reason == StopReason::paused);
    node.stop();
    BOOST_TEST(node.state().application == Activity::Idle);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
