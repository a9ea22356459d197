#include "alone.hpp"

#include <algorithm>

/// The switches (docs/decisions/switches.md). There is one test for each switch. It checks a
/// property that holds only with that switch.

namespace muster::test {

namespace {

/// Checks a condition that must hold if the switch is on, and must not hold if it is off.
template <class Holds>
void only_with(bool Repairs::*repair, Holds holds) {
  BOOST_TEST(holds(Repairs{}));
  BOOST_TEST(!holds(without(repair)));
}

bool starts_over_free_for_timeout(Repairs repairs) {
  BullyAlone node(2, 3, repairs);  // node 3 answers phase A and fails before it halts (row V6)
  node.coordinator_elect({id(1)});
  node.unanswered(1);
  if (node.procedure<bully::BackingOff>()) node.expire(Timer::retry);
  node.answered(3, Here{});
  node.stop();
  if (!node.node().timers().contains(Timer::coordinator)) return false;
  return !sent<AreYouThere>(node.expire(Timer::coordinator)).empty();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(switches)

BOOST_AUTO_TEST_CASE(start_over_halted_leaves_no_coordinator_elect_waiting_for_ever) {
  only_with(&Repairs::start_over_halted, starts_over_free_for_timeout);
}

BOOST_AUTO_TEST_CASE(normal_for_me_heals_a_split_brain) {
  only_with(&Repairs::normal_for_me, [](Repairs repairs) {
    World world = settled(3, repairs);
    world.claim = false;
    world.pause(3);
    BOOST_REQUIRE(world.settle());
    world.resume(3, false);
    return world.settle();
  });
}

BOOST_AUTO_TEST_CASE(lost_members_makes_a_definition_that_does_not_name_the_dead) {
  only_with(&Repairs::lost_members, [](Repairs repairs) {
    World world = settled(3, repairs);
    world.fail(1);
    BOOST_REQUIRE(world.settle());
    return world.view(3).up == NodeSet{id(2)};
  });
}

BOOST_AUTO_TEST_CASE(report_refusals_keeps_a_coordinator_from_naming_a_node_that_is_no_member) {
  only_with(&Repairs::report_refusals, [](Repairs repairs) {
    BullyAlone member(1, 2, repairs);  // node 1 restarted after it was halted
    member.answered(2, Here{});
    const Actions& actions = member.called(2, member.new_coordinator(2));
    return answer<Refused>(actions) != nullptr;
  });
  BullyAlone coordinator(2, 2);
  coordinator.coordinator_elect({id(1)});
  coordinator.answered(1, Refused{"not halted"});
  BOOST_TEST(!coordinator.state().c.has_value());
}

BOOST_AUTO_TEST_CASE(tags_refuse_a_letter_of_an_earlier_life) {
  only_with(&Repairs::tags, [](Repairs repairs) {
    BullyAlone node(1, 3, repairs);
    node.answered(2, Here{});
    node.halt_by(3);
    const Letter old{id(3), {1}, id(1), {77}, node.new_coordinator(3)};
    node.restarts(3);
    node.called(3, Halt{{id(3), {2}, 1}});
    node.give(Received{old});  // a letter from the connection of the earlier life
    return node.state().s == Status::Election;
  });
}

BOOST_AUTO_TEST_CASE(parallel_calls_go_side_by_side) {
  only_with(&Repairs::parallel_calls, [](Repairs repairs) {
    BullyAlone node(3, 3, repairs);
    node.coordinator_elect({id(1), id(2)});
    return sent<NewCoordinator>(node.actions()) == Nodes({1, 2});
  });
  only_with(&Repairs::parallel_calls, [](Repairs repairs) {
    BullyAlone node(3, 3, repairs);
    node.reorganizing({id(1), id(2)});
    return sent<Ready>(node.end_hook()) == Nodes({1, 2});
  });
  only_with(&Repairs::parallel_calls, [](Repairs repairs) {
    BullyAlone node(3, 3, repairs);
    node.normal_coordinator_of({id(1), id(2)});
    return sent<AreYouNormal>(node.expire(Timer::check)) == Nodes({1, 2});
  });
  only_with(&Repairs::parallel_calls, [](Repairs repairs) {
    BullyAlone node(1, 4, repairs);
    return sent<AreYouThere>(node.unanswered(2)) == Nodes({3, 4});
  });
}

BOOST_AUTO_TEST_CASE(proofs_notice_a_death_and_a_restart_at_once) {
  only_with(&Repairs::proofs, [](Repairs repairs) {
    BullyAlone node(2, 3, repairs);
    node.normal_member_of(3);
    return !asked_whether_there(node.give(Failed{id(3), {1}})).empty();
  });
  only_with(&Repairs::proofs, [](Repairs repairs) {
    BullyAlone node(2, 2, repairs);
    node.normal_coordinator_of({});
    return !sent<AreYouNormal>(node.called(1, AreYouThere{})).empty();
  });
}

BOOST_AUTO_TEST_CASE(stop_beside_halts_waits_for_the_longest_stop_and_not_for_the_sum) {
  only_with(&Repairs::stop_beside_halts, [](Repairs repairs) {
    BullyAlone halted(1, 2, repairs);
    halted.answered(2, Here{});
    return answer<Halted>(halted.called(2, halted.new_halt(2))) != nullptr;
  });
  only_with(&Repairs::stop_beside_halts, [](Repairs repairs) {
    BullyAlone candidate(2, 2, repairs);
    return sent<Halt>(candidate.actions()) == Nodes({1});
  });
}

BOOST_AUTO_TEST_CASE(save_promises_only_makes_a_halt_cost_no_commit) {
  only_with(&Repairs::save_promises_only, [](Repairs repairs) {
    BullyAlone node(1, 2, repairs);
    node.answered(2, Here{});
    return first<Save>(node.called(2, node.new_halt(2))) == nullptr;
  });
}

BOOST_AUTO_TEST_CASE(without_save_promises_only_the_whole_state_vector_is_in_safe_storage) {
  BullyAlone node(1, 2, without(&Repairs::save_promises_only));
  const auto saved = [&] { return node.node().safe.vector; };
  node.normal_member_of(2);
  BOOST_TEST(saved().s == Status::Normal);
  BOOST_TEST(saved().c == id(2));
  node.called(2, node.new_halt(2));
  BOOST_TEST(saved().s == Status::Election);
  BOOST_TEST(saved().h == id(2));
}

BOOST_AUTO_TEST_CASE(what_is_saved_of_the_state_vector_is_that_of_the_moment) {
  BullyAlone member(1, 2);
  member.halt_by(2);
  member.called(2, member.new_coordinator(2));
  BOOST_REQUIRE(first<Save>(member.actions()));
  BOOST_TEST(first<Save>(member.actions())->safe.vector ==
             (StateVector{Status::Reorganization, id(2), id(2), {}}));
  BullyAlone coordinator(2, 2);
  coordinator.coordinator_elect({id(1)});
  BOOST_REQUIRE(first<Save>(coordinator.actions()));
  BOOST_TEST(first<Save>(coordinator.actions())->safe.vector ==
             (StateVector{Status::Reorganization, id(2), id(2), {id(1)}}));
}

BOOST_AUTO_TEST_CASE(back_off_waits_before_it_starts_over_again) {
  only_with(&Repairs::back_off, [](Repairs repairs) {
    BullyAlone node(2, 2, repairs);
    for (int times = 0; times < 2; ++times) {
      node.coordinator_elect({id(1)});
      node.answered(1, Refused{"no"});
    }
    return node.procedure<bully::BackingOff>() != nullptr;
  });
}

BOOST_AUTO_TEST_CASE(literal_turns_them_all_off) {
  BOOST_TEST((ProtocolConfig{id(1), {id(1)}, Repairs::none(), {}}.literal()));
  const Repairs none = Repairs::none();
  const Repairs all;
  for_each_field(none, [](const char*, bool on) { BOOST_TEST(!on); });
  for_each_field(all, [](const char*, bool on) { BOOST_TEST(on); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
