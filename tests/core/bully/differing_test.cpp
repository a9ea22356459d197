#include "alone.hpp"

/// Nodes that differ and so cannot be spoken with (docs/decisions/differing.md). The node is 3 of 5
/// unless a test says otherwise.

namespace muster::test {

namespace {

struct Among : BullyAlone {
  using BullyAlone::BullyAlone;

  const Actions& differ(NodeSet nodes, NodeSet agree = {}) {
    return give(Differing{std::move(nodes), std::move(agree)});
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(nodes_that_differ, Among)

BOOST_AUTO_TEST_CASE(a_node_from_which_more_differ_takes_no_part) {
  normal_member_of(4);
  const Actions& actions = differ({id(1), id(2)}, {});
  BOOST_TEST(first<Stop>(actions)->cause.reason == StopReason::outvoted);
  BOOST_TEST(procedure<bully::Outvoted>());
  BOOST_TEST(state().s == Status::Down);
  stop();
  BOOST_TEST(!node().timers().contains(Timer::coordinator));
}

BOOST_AUTO_TEST_CASE(on_a_tie_all_pause) {
  Among tied;
  tied.normal_member_of(4);
  tied.differ({id(1), id(2)}, {id(4)});
  BOOST_TEST(tied.procedure<bully::Outvoted>());
  Among majority;
  majority.normal_member_of(4);
  BOOST_TEST(majority.differ({id(1), id(2)}, {id(4), id(5)}).empty());
  BOOST_TEST(majority.state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(a_node_that_calls_it_is_refused) {
  differ({id(1)});
  for (const Message& message :
       {Message{AreYouThere{}}, Message{AreYouNormal{}}, Message{new_halt(5)},
        Message{new_coordinator(5)}, Message{ready(5)}})
    BOOST_TEST(answer<Refused>(called(5, message)));
  BOOST_TEST(procedure<bully::Outvoted>());
}

BOOST_AUTO_TEST_CASE(to_others_it_is_as_one_that_does_not_answer) {
  const Refused outvoted{"it is outvoted"};
  Among node(3, 3);
  node.answered(2, outvoted);
  node.answered(1, outvoted);
  BOOST_TEST(node.state().up.empty());
  BOOST_TEST(node.state().s == Status::Reorganization);
  Among asks(1, 3);
  asks.answered(2, outvoted);
  BOOST_TEST(sent<AreYouThere>(asks.actions()) == Nodes({3}));
  Among checks;
  checks.normal_coordinator_of({id(2)});
  checks.expire(Timer::check);
  checks.answered(1, outvoted);  // node 1 is no member
  BOOST_TEST(checks.procedure<bully::Checking>());
  checks.answered(2, outvoted);
  BOOST_TEST(checks.procedure<bully::SeekingHigher>());
}

// The other nodes must not form a group before this node's application has ceased. Otherwise both
// would be at work.
BOOST_AUTO_TEST_CASE(it_says_whether_its_application_has_ceased) {
  normal_member_of(4);
  differ({id(1), id(2)});
  const auto at_work = [&] { return answer<Refused>(called(5, new_halt(5)))->at_work.yet; };
  BOOST_TEST(at_work());
  stop();
  BOOST_TEST(!at_work());
}

BOOST_AUTO_TEST_CASE(a_candidate_waits_for_one_that_may_be_at_work) {
  const Refused at_work{"it is outvoted", {true}};
  Among halts(3, 3);
  BOOST_TEST(arms(halts.answered(2, at_work), Timer::rejoin));
  BOOST_TEST(halts.procedure<bully::Rejoining>());
  BOOST_TEST(halts.state().s == Status::Down);
  halts.stop();
  BOOST_TEST(sent<Halt>(halts.expire(Timer::rejoin)) == Nodes({2}));
  Among asks(1, 3);
  asks.answered(2, at_work);
  BOOST_TEST(asks.procedure<bully::Rejoining>());
}

BOOST_AUTO_TEST_CASE(who_is_in_a_group_asks_it_again_as_a_candidate) {
  const Refused at_work{"it is outvoted", {true}};
  Among member;
  member.normal_member_of(4);
  member.expire(Timer::coordinator);
  BOOST_TEST(sent<AreYouThere>(member.answered(4, at_work)) == Nodes({4}));
  BOOST_TEST(member.state().s == Status::Normal);
  member.answered(4, at_work);
  BOOST_TEST(member.procedure<bully::Rejoining>());
  Among coordinator;
  coordinator.normal_coordinator_of({id(2)});
  coordinator.expire(Timer::check);
  coordinator.answered(2, at_work);
  BOOST_TEST(coordinator.procedure<bully::SeekingHigher>());
}

BOOST_AUTO_TEST_CASE(a_pause_changes_nothing_for_it) {
  differ({id(1)});
  give(Paused{});
  BOOST_TEST(procedure<bully::Outvoted>());
}

BOOST_AUTO_TEST_CASE(it_takes_part_again_at_once_when_none_differs_any_more) {
  differ({id(1)});
  BOOST_TEST(sent<AreYouThere>(differ({})) == Nodes({4}));
}

// Until the second event the nodes that differ may have been the majority, so they may still be at
// work.
BOOST_AUTO_TEST_CASE(a_new_majority_waits_for_those_that_differ_to_cease) {
  differ({id(1), id(2)}, {});
  BOOST_TEST(arms(differ({id(1), id(2)}, {id(4), id(5)}), Timer::rejoin));
  BOOST_TEST(procedure<bully::Rejoining>());
  BOOST_TEST(sent<AreYouThere>(expire(Timer::rejoin)) == Nodes({4}));
}

BOOST_AUTO_TEST_CASE(so_does_a_life_that_begins_in_it) {
  Among node(5, 5);
  BOOST_TEST(node.procedure<bully::HaltingLower>());
  node.differ({id(3), id(4)}, {id(1), id(2)});
  BOOST_TEST(node.procedure<bully::Rejoining>());
  node.stop();
  node.differ({id(4)}, {id(1), id(2)});
  BOOST_TEST(node.procedure<bully::Rejoining>());
  BOOST_TEST(sent<Halt>(node.differ({})) == Nodes({4}));
}

BOOST_AUTO_TEST_CASE(a_halt_of_one_that_agrees_ends_this_wait) {
  differ({id(1)}, {});
  differ({id(1)}, {id(4), id(5)});
  BOOST_REQUIRE(procedure<bully::Rejoining>());
  BOOST_TEST(answer<Halted>(called(5, new_halt(5))));
  BOOST_TEST(procedure<bully::Idle>());
  // Perhaps the candidate has not waited for the nodes that differ. So if the candidate fails, this
  // node goes on waiting for them.
  expire(Timer::coordinator);
  BOOST_TEST(procedure<bully::Rejoining>());
  BOOST_TEST(sent<AreYouThere>(expire(Timer::rejoin)) == Nodes({4}));
}

BOOST_AUTO_TEST_CASE(a_halted_node_that_finds_one_waits_before_an_election_of_its_own) {
  halt_by(5);
  BOOST_TEST(arms(differ({id(1)}, {id(4), id(5)}), Timer::rejoin));
  BOOST_TEST(procedure<bully::Idle>());
  expire(Timer::coordinator);
  BOOST_TEST(procedure<bully::Rejoining>());
}

BOOST_AUTO_TEST_CASE(who_is_taken_into_a_group_waits_no_more) {
  halt_by(5);
  differ({id(1)}, {id(4), id(5)});
  BOOST_TEST(first<Disarm>(called(5, new_coordinator(5))));
  BOOST_TEST(differ({id(1), id(2)}, {id(4), id(5)}).empty());
}

// The group of that coordinator works until this node halts it (docs/decisions/left-behind.md).
BOOST_AUTO_TEST_CASE(a_lower_coordinator_is_told_meanwhile_that_all_is_well) {
  const auto is_normal = [](BullyAlone& node, std::uint32_t of) {
    const auto* answered = answer<Normality>(node.called(of, AreYouNormal{{7, id(of)}}));
    BOOST_REQUIRE(answered);
    return answered->normal;
  };
  differ({id(1), id(2)}, {});
  differ({id(1)}, {id(4), id(5)});
  BOOST_REQUIRE(procedure<bully::Rejoining>());
  BOOST_TEST(is_normal(*this, 2));
  BOOST_TEST(!is_normal(*this, 4));
  // With preempt = never a higher node halts nobody. This node answers No, so that the coordinator
  // admits it.
  Among joins(3, 5, {}, {.preempt = Preempt::never});
  joins.differ({id(1), id(2)}, {});
  joins.differ({id(1)}, {id(4), id(5)});
  BOOST_REQUIRE(joins.procedure<bully::Rejoining>());
  BOOST_TEST(!is_normal(joins, 2));
}

BOOST_AUTO_TEST_CASE(a_leaving_node_goes_on_leaving) {
  normal_member_of(4);
  give(Leaving{});
  BOOST_TEST(differ({id(1), id(2)}).empty());
  BOOST_TEST(first<Leave>(end_hook()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
