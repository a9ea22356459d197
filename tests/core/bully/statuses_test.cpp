#include "alone.hpp"

/// The table of events and statuses (docs/protocols/bully/procedures.md), for node 3 of 5. Each
/// case runs with the paper's text (every switch off) and as the protocol ships. If the two forms
/// differ, the test says so.

namespace muster::test {

namespace {

const Status statuses[] = {Status::Down, Status::Election, Status::Reorganization, Status::Normal};

/// Node 3 in that status. In Reorganization and Normal the node is a member of node 4's group.
struct InStatus : BullyAlone {
  InStatus(Status status, Repairs repairs) : BullyAlone(3, 5, repairs) {
    answered(4, Here{});  // the election that its recovery began is over
    stop();
    if (status == Status::Election) halt_by(4);
    if (status == Status::Reorganization) reorganization_of(4);
    if (status == Status::Normal) normal_member_of(4);
    BOOST_REQUIRE_EQUAL(state().s, status);
    BOOST_REQUIRE(procedure<bully::Idle>());
  }
};

auto every_status() {
  return every_form() * boost::unit_test::data::make(statuses);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(in_every_status)

BOOST_DATA_TEST_CASE(are_you_there_is_answered_in_every_status, every_status(), repairs, status) {
  InStatus node(status, repairs);
  for (std::uint32_t from : {1U, 2U, 4U, 5U})
    BOOST_TEST(answer<Here>(node.called(from, AreYouThere{})));
  BOOST_TEST(node.procedure<bully::Idle>());
  BOOST_TEST(node.state().s == status);
}

BOOST_DATA_TEST_CASE(are_you_normal_is_answered_yes_in_normal_only, every_status(), repairs,
                     status) {
  InStatus node(status, repairs);
  const auto* said = answer<Normality>(node.called(4, AreYouNormal{node.group()}));
  BOOST_REQUIRE(said);
  BOOST_TEST(said->normal == (status == Status::Normal));
}

BOOST_DATA_TEST_CASE(halt_is_obeyed_in_every_status, every_status(), repairs, status) {
  InStatus node(status, repairs);
  const Actions& actions = node.called(2, node.new_halt(2));
  BOOST_TEST(node.state().s == Status::Election);
  BOOST_TEST(node.view().halted_by.value() == id(2));
  BOOST_TEST(node.state().application != Activity::Working);
  if (repairs.stop_beside_halts) BOOST_TEST(answer<Halted>(actions));
  while (node.state().application == Activity::Stopping) node.end_hook();
  if (!repairs.stop_beside_halts) BOOST_TEST(answer<Halted>(node.actions()));
}

BOOST_DATA_TEST_CASE(halt_ends_an_election_that_runs, every_form(), repairs) {
  InStatus node(Status::Election, repairs);
  node.election_begins();
  node.called(5, node.new_halt(5));
  BOOST_TEST(node.procedure<bully::Idle>());
}

BOOST_DATA_TEST_CASE(new_coordinator_is_obeyed_in_election_where_h_is_j, every_status(), repairs,
                     status) {
  InStatus node(status, repairs);
  const auto group = node.state().g;
  const Actions& actions = node.called(4, node.new_coordinator(4));
  BOOST_TEST(answers_anything(actions));
  if (status == Status::Election) {
    BOOST_TEST(node.state().s == Status::Reorganization);
    BOOST_TEST(node.view().coordinator.value() == id(4));
    BOOST_TEST(answer<Joined>(actions));
  } else {
    BOOST_TEST(node.state().s == status);
    BOOST_TEST(node.state().g == group);
    BOOST_TEST((answer<Refused>(actions) != nullptr) == repairs.report_refusals);
  }
}

BOOST_DATA_TEST_CASE(new_coordinator_of_another_than_h_is_ignored, every_form(), repairs) {
  InStatus node(Status::Election, repairs);
  const Actions& actions = node.called(5, node.new_coordinator(5));
  BOOST_TEST((answer<Refused>(actions) != nullptr) == repairs.report_refusals);
  BOOST_TEST((answer<Joined>(actions) != nullptr) != repairs.report_refusals);
  BOOST_TEST(node.state().s == Status::Election);
}

BOOST_DATA_TEST_CASE(ready_is_obeyed_in_reorganization_where_c_is_j, every_status(), repairs,
                     status) {
  InStatus node(status, repairs);
  const auto before = node.state().d;
  const Actions& actions = node.called(4, node.ready(4, "another task"));
  if (status == Status::Reorganization) {
    BOOST_TEST(first<Start>(actions));
    BOOST_TEST(answer<Installed>(node.end_hook()));
    BOOST_TEST(node.state().s == Status::Normal);
    BOOST_TEST(node.state().d->data == "another task");
  } else {
    BOOST_TEST(answers_anything(actions));
    BOOST_TEST(node.state().s == status);
    BOOST_TEST(node.state().d == before);
    BOOST_TEST((answer<Refused>(actions) != nullptr) == repairs.report_refusals);
  }
}

BOOST_DATA_TEST_CASE(ready_of_another_than_c_is_ignored, every_form(), repairs) {
  InStatus node(Status::Reorganization, repairs);
  const Actions& actions = node.called(5, node.ready(5));
  BOOST_TEST((answer<Refused>(actions) != nullptr) == repairs.report_refusals);
  BOOST_TEST((answer<Installed>(actions) != nullptr) != repairs.report_refusals);
  BOOST_TEST(node.state().s == Status::Reorganization);
  BOOST_TEST(!node.state().d.has_value());
}

BOOST_DATA_TEST_CASE(timeout_is_an_election_in_down_and_election_and_a_question_else,
                     every_status(), repairs, status) {
  InStatus node(status, repairs);
  BOOST_TEST(asked_whether_there(node.expire(Timer::coordinator)) == Nodes({4}));
  const bool election = status == Status::Down || status == Status::Election;
  BOOST_TEST((node.procedure<bully::SeekingHigher>() != nullptr) == election);
  BOOST_TEST((node.procedure<bully::Probing>() != nullptr) == !election);
  node.answered(4, Here{});
  BOOST_TEST(node.procedure<bully::Idle>());
  BOOST_TEST(node.state().s == status);
}

BOOST_DATA_TEST_CASE(check_does_nothing_but_at_a_normal_coordinator, every_status(), repairs,
                     status) {
  InStatus node(status, repairs);
  BOOST_TEST(!node.node().timers().contains(Timer::check));
  BOOST_TEST(node.node().timers().contains(Timer::coordinator));
  BOOST_TEST(sent<AreYouNormal>(node.would(Expired{Timer::check})).empty());
  BOOST_TEST(node.procedure<bully::Idle>());
}

BOOST_DATA_TEST_CASE(any_no_is_an_election, every_form(), repairs) {
  BullyAlone node(3, 5, repairs);
  node.normal_coordinator_of({id(2)});
  node.expire(Timer::check);
  node.answered(1, Normality{false});
  BOOST_TEST(node.procedure<bully::SeekingHigher>());
  BOOST_TEST(node.state().s == Status::Normal);  // a higher node may still answer
}

BOOST_DATA_TEST_CASE(a_failure_makes_s_down_and_h_undefined_and_begins_an_election, every_status(),
                     repairs, status) {
  InStatus node(status, repairs);
  node.world.fail(3);
  node.world.recover(3);
  BOOST_TEST(node.state().s == Status::Down);
  BOOST_TEST(!node.state().h.has_value());
  BOOST_TEST(!node.state().c.has_value());
  BOOST_TEST(node.procedure<bully::SeekingHigher>());
}

BOOST_DATA_TEST_CASE(a_higher_node_that_answers_phase_a_leaves_the_status, every_status(), repairs,
                     status) {
  InStatus node(status, repairs);
  if (status == Status::Down || status == Status::Election) {
    node.election_begins();
    node.answered(4, Here{});
  } else {  // the election begins when a question to the coordinator is unanswered
    node.expire(Timer::coordinator);
    node.unanswered(4);
    if (!repairs.parallel_calls) node.unanswered(4);  // the paper's text asks node 4 again
    node.answered(5, Here{});
  }
  BOOST_TEST(node.state().s == status);
  BOOST_TEST(node.procedure<bully::Idle>());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
