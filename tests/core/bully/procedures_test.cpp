#include "alone.hpp"

/// The paper's procedures as they are in its text: every switch is off
/// (docs/protocols/bully/procedures.md). The node is 3 of 5 unless a test says otherwise.

namespace muster::test {

namespace {

struct Literal : BullyAlone {
  explicit Literal(std::uint32_t self = 3, std::uint32_t nodes = 5)
      : BullyAlone(self, nodes, Repairs::none()) {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(procedures, Literal)

// --- Remote procedures

BOOST_AUTO_TEST_CASE(are_you_normal_tells_the_status_and_not_whose_member_the_node_is) {
  normal_member_of(4);
  BOOST_TEST(answer<Normality>(called(4, AreYouNormal{group()}))->normal);
  BOOST_TEST(answer<Normality>(called(5, AreYouNormal{{99, id(5)}}))->normal);
}

// --- Election(i)

BOOST_AUTO_TEST_CASE(phase_a_asks_the_higher_nodes_one_by_one_ascending) {
  Literal node(2);
  BOOST_TEST(sent<AreYouThere>(node.actions()) == Nodes({3}));
  BOOST_TEST(sent<AreYouThere>(node.unanswered(3)) == Nodes({4}));
  BOOST_TEST(sent<AreYouThere>(node.unanswered(4)) == Nodes({5}));
}

BOOST_AUTO_TEST_CASE(the_own_stop_is_over_before_the_first_halt) {
  Literal node(3, 3);
  BOOST_TEST(first<Stop>(node.actions()));
  BOOST_TEST(sent<Halt>(node.actions()).empty());
  BOOST_TEST(node.state().s == Status::Election);
  BOOST_TEST(node.view().halted_by.value() == id(3));
  BOOST_TEST(sent<Halt>(node.end_hook()) == Nodes({2}));
}

BOOST_AUTO_TEST_CASE(phase_h_halts_the_lower_nodes_one_by_one_descending) {
  Literal node(4, 4);
  BOOST_TEST(sent<Halt>(node.end_hook()) == Nodes({3}));
  BOOST_TEST(sent<Halt>(node.answered(3, Halted{})) == Nodes({2}));
  BOOST_TEST(sent<Halt>(node.unanswered(2)) == Nodes({1}));
}

BOOST_AUTO_TEST_CASE(up_is_who_answered_halt) {
  Literal node(4, 4);
  node.coordinator_elect({id(3), id(1)});
  BOOST_TEST(node.view().up.value() == NodeSet({id(1), id(3)}));
}

BOOST_AUTO_TEST_CASE(the_election_point_comes_when_all_lower_nodes_were_halted_or_did_not_answer) {
  Literal node(3, 3);
  node.end_hook();
  node.unanswered(2);
  BOOST_TEST(node.state().s == Status::Election);
  node.unanswered(1);
  BOOST_TEST(node.state().s == Status::Reorganization);
  BOOST_TEST(node.view().coordinator.value() == id(3));
}

BOOST_AUTO_TEST_CASE(phase_c_calls_new_coordinator_of_all_in_up) {
  Literal node(4, 4);
  node.coordinator_elect({id(1), id(3)});
  BOOST_TEST(sent<NewCoordinator>(node.actions()) == Nodes({1}));
  BOOST_TEST(sent<NewCoordinator>(node.answered(1, Joined{})) == Nodes({3}));
  BOOST_TEST(first<Reorganize>(node.answered(3, Joined{})));
}

BOOST_AUTO_TEST_CASE(an_unanswered_new_coordinator_begins_the_election_anew) {
  Literal node(3, 4);
  node.coordinator_elect({id(2), id(1)});
  BOOST_TEST(sent<AreYouThere>(node.unanswered(1)) == Nodes({4}));
  BOOST_TEST(node.state().s == Status::Reorganization);  // until the new phase A is over
  BOOST_TEST(node.view().coordinator.value() == id(3));
}

BOOST_AUTO_TEST_CASE(reorganize_is_given_all_of_up) {
  Literal node(3, 3);
  node.reorganizing({id(1), id(2)});
  BOOST_TEST(first<Reorganize>(node.actions())->members.size() == 3U);
}

BOOST_AUTO_TEST_CASE(phase_y_calls_ready_of_all_in_up_with_the_definition) {
  Literal node(3, 3);
  node.reorganizing({id(1), id(2)});
  const Actions& actions = node.end_hook();
  BOOST_TEST(sent<Ready>(actions) == Nodes({1}));
  BOOST_TEST(std::get<Ready>(first<Send>(actions)->letter.message).definition ==
             node.state().d.value());
  BOOST_TEST(sent<Ready>(node.answered(1, Installed{})) == Nodes({2}));
}

BOOST_AUTO_TEST_CASE(an_unanswered_ready_begins_the_election_anew) {
  Literal node(3, 4);
  node.making_ready({id(1), id(2)});
  BOOST_TEST(sent<AreYouThere>(node.unanswered(1)) == Nodes({4}));
  BOOST_TEST(node.state().s == Status::Reorganization);
}

BOOST_AUTO_TEST_CASE(the_coordinator_is_normal_last) {
  Literal node(2, 2);
  node.making_ready({id(1)});
  BOOST_TEST(node.state().s == Status::Reorganization);
  node.answered(1, Installed{});
  node.end_hook();
  BOOST_TEST(node.state().s == Status::Normal);
}

// --- Recovery(i), Check(i), Timeout(i)

BOOST_AUTO_TEST_CASE(check_asks_every_other_node_of_a_normal_coordinator) {
  normal_coordinator_of({id(1)});
  BOOST_TEST(sent<AreYouNormal>(expire(Timer::check)) == Nodes({1}));
  BOOST_TEST(sent<AreYouNormal>(answered(1, Normality{true})) == Nodes({2}));
  BOOST_TEST(sent<AreYouNormal>(unanswered(2)) == Nodes({4}));
  BOOST_TEST(sent<AreYouNormal>(unanswered(4)) == Nodes({5}));
  unanswered(5);
  BOOST_TEST(procedure<bully::Idle>());
  BOOST_TEST(state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_does_not_answer_timeout_means_an_election) {
  normal_member_of(5);
  expire(Timer::coordinator);
  BOOST_TEST(sent<AreYouThere>(unanswered(5)) == Nodes({4}));
  BOOST_TEST(procedure<bully::SeekingHigher>());
}

BOOST_AUTO_TEST_CASE(at_the_coordinator_itself_timeout_does_nothing) {
  Literal node(2, 3);
  node.coordinator_elect({id(1)});
  node.unanswered(1);        // starts over: phase A,
  node.answered(3, Here{});  // and gives its election up
  BOOST_TEST(node.state().s == Status::Reorganization);
  BOOST_TEST(sent<AreYouThere>(node.expire(Timer::coordinator)).empty());
  BOOST_TEST(node.procedure<bully::Idle>());
}

// --- The winner of an election

BOOST_AUTO_TEST_CASE(the_highest_node_that_is_up_becomes_coordinator) {
  for (std::uint32_t highest = 1; highest <= 4; ++highest) {
    World cluster(4, Repairs::none());
    for (std::uint32_t i = 1; i <= highest; ++i) cluster.recover(i);
    BOOST_TEST(cluster.settle());
    for (std::uint32_t i = 1; i <= highest; ++i)
      BOOST_TEST(bully::view(cluster[i].config, cluster[i].state()).coordinator.value() ==
                 id(highest));
  }
}

BOOST_AUTO_TEST_CASE(a_recovering_higher_node_takes_over_from_a_healthy_coordinator) {
  World cluster(3, Repairs::none());
  cluster.recover(1);
  cluster.recover(2);
  BOOST_REQUIRE(cluster.settle());
  cluster.recover(3);
  cluster.run();
  BOOST_TEST(cluster.are_one_group());
  BOOST_TEST(cluster[2].state().c->candidate == id(3));
}

BOOST_AUTO_TEST_CASE(
    a_recovering_lower_node_does_not_win_but_makes_check_restart_a_complete_election) {
  World cluster(3, Repairs::none());
  cluster.recover(2);
  cluster.recover(3);
  BOOST_REQUIRE(cluster.settle());
  const GroupNumber before = *cluster[3].state().g;
  cluster.recover(1);
  cluster.run();
  BOOST_TEST(cluster[1].state().s == Status::Down);  // node 1 has its answer, and waits
  BOOST_TEST(cluster.settle());
  BOOST_TEST(cluster[1].state().c->candidate == id(3));
  BOOST_TEST(*cluster[2].state().g > before);  // node 2 has been halted and has reorganized too
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
