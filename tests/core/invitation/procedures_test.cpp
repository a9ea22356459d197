#include "core/world/alone.hpp"

#include <boost/test/unit_test.hpp>

/// The Invitation algorithm of Section IV: one test for each sentence. It also tests those findings
/// of docs/protocols/invitation/findings.md that need only one node.

namespace muster::test {

namespace {

using invitation::Accept;
using invitation::AreYouCoordinator;
using invitation::Coordinating;
using invitation::Invitation;
using invitation::Invited;
using invitation::Membership;
using invitation::Repairs;

/// Node 2 of three, up. The test plays the others.
struct Node2 : Alone {
  explicit Node2(Repairs repairs = {}) : Alone(2, 3, of_invitation(repairs)) {}

  [[nodiscard]] const invitation::State& state() const {
    return std::get<invitation::State>(node().protocol());
  }
  void group_of_one() {
    end_hooks();
    BOOST_REQUIRE(state().s == Status::Normal);
  }
  /// The node has joined the group of node 3, and waits for the answer to its Accept.
  void accepting() {
    group_of_one();
    called(3, Invitation{group_of_3()});
    end_hooks();
  }
  void member_of_3() {
    accepting();
    answered(3, Here{});
    called(3, invitation::Ready{group_of_3(), Incarnation{1}, {"task"}});
    end_hooks();
    BOOST_REQUIRE(state().s == Status::Normal && state().c == id(3));
  }
  static GroupNumber group_of_3() { return {100, id(3)}; }
};

World all_together(std::uint32_t nodes, Repairs repairs = {}) {
  return settled(nodes, of_invitation(repairs));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(invitation_procedures, Node2)

BOOST_AUTO_TEST_CASE(recovery_makes_a_one_node_group_with_a_fresh_number) {
  BOOST_TEST(state().s == Status::Election);
  BOOST_TEST(state().g == (GroupNumber{1, id(2)}));
  end_hooks();
  BOOST_TEST((state().s == Status::Normal && state().c == id(2)));
  BOOST_TEST(state().up.empty());
}

BOOST_AUTO_TEST_CASE(the_counter_is_in_safe_storage_before_it_is_used) {
  BOOST_TEST(node().safe.counter_limit >= 1u);
  world.fail(2);
  world.recover(2);
  BOOST_TEST(state().g->counter > 1u);
}

BOOST_AUTO_TEST_CASE(only_a_normal_coordinator_says_that_it_is_one) {
  BOOST_TEST(!answer<Coordinating>(called(3, AreYouCoordinator{}))->coordinator);
  group_of_one();
  BOOST_TEST(answer<Coordinating>(called(3, AreYouCoordinator{}))->coordinator);
  Node2 member;
  member.member_of_3();
  BOOST_TEST(!answer<Coordinating>(member.called(1, AreYouCoordinator{}))->coordinator);
}

BOOST_AUTO_TEST_CASE(an_invitation_is_declined_outside_normal) {
  const auto* invited = answer<Invited>(called(3, Invitation{group_of_3()}));
  BOOST_REQUIRE(invited);
  BOOST_TEST(!invited->coming);
  BOOST_TEST(state().g == (GroupNumber{1, id(2)}));
}

BOOST_AUTO_TEST_CASE(an_invited_node_stops_joins_and_accepts_when_it_has_stopped) {
  group_of_one();
  const Actions invited = called(3, Invitation{group_of_3()});
  BOOST_TEST(answer<Invited>(invited)->coming);
  BOOST_TEST(sent<Accept>(invited).empty());
  BOOST_TEST(first<Stop>(invited)->cause == (StopCause{StopReason::invited, id(3)}));
  BOOST_TEST((state().s == Status::Election && state().c == id(3)));
  end_hooks();
  BOOST_TEST(state().s == Status::Reorganization);
  BOOST_TEST((std::holds_alternative<Accept>(world.sent().back().message)));
  BOOST_TEST(!std::get<Accept>(world.sent().back().message).holdings.report.data.empty());
}

BOOST_AUTO_TEST_CASE(an_unanswered_accept_is_followed_by_recovery) {
  accepting();
  unanswered(3);
  BOOST_TEST((state().c == id(2) && state().g->counter > 100u));
}

BOOST_AUTO_TEST_CASE(ready_installs_the_definition_in_reorganization_of_that_group) {
  member_of_3();
  BOOST_TEST(state().d->data == "task");
  BOOST_TEST(node().safe.assigned->group == group_of_3());
}

BOOST_AUTO_TEST_CASE(ready_of_another_group_is_refused) {
  accepting();
  answered(3, Here{});
  const GroupNumber older{group_of_3().counter - 1, id(3)};
  BOOST_TEST(answer<Refused>(
      called(3, invitation::Ready{older, Incarnation{1}, {"the task of another group"}})));
  BOOST_TEST((state().s == Status::Reorganization && !state().d));
}

BOOST_AUTO_TEST_CASE(timeout_asks_the_coordinator_and_a_no_is_followed_by_recovery) {
  member_of_3();
  expire(Timer::coordinator);
  BOOST_TEST(view().procedure == Wait::Probing);
  answered(3, Membership{true});
  BOOST_TEST((state().s == Status::Normal && state().c == id(3)));
  expire(Timer::coordinator);
  answered(3, Membership{false});
  BOOST_TEST(state().c == id(2));
}

BOOST_AUTO_TEST_CASE(a_lower_coordinator_waits_in_proportion_to_the_distance) {
  group_of_one();
  expire(Timer::check);
  answered(1, Coordinating{true, {}, 5});
  answered(3, Coordinating{true, {}, 7});
  BOOST_TEST(view().procedure == Wait::GivingWay);
  BOOST_TEST(node().timers().contains(Timer::merge));
  expire(Timer::merge);
  BOOST_TEST(view().procedure == Wait::Inviting);
  BOOST_TEST(state().g->counter > 7u);
}

BOOST_AUTO_TEST_CASE(accept_and_are_you_there_are_about_one_group) {
  group_of_one();
  const GroupNumber alone = *state().g;
  expire(Timer::check);
  answered(1, Coordinating{true, {}, 5});
  answered(3, Coordinating{false, {}, 5});
  answered(1, Invited{true, 5});
  BOOST_TEST(answer<Refused>(called(1, Accept{alone, {}, {}})));
  BOOST_TEST(state().up.empty());
  const GroupNumber group = *state().g;
  BOOST_TEST(answer<Here>(called(1, Accept{group, {}, {}})));
  BOOST_TEST((state().up.size() == 1u && state().up.front().node == id(1)));
  const auto is_member = [&](GroupNumber of) {
    const invitation::AreYouThere question{of, Status::Reorganization};
    return answer<Membership>(called(1, question))->member;
  };
  BOOST_TEST(is_member(group));
  BOOST_TEST(!is_member(alone));
}

BOOST_AUTO_TEST_CASE(all_nodes_come_together_under_the_highest) {
  const World cluster = all_together(5);
  for (std::uint32_t i = 1; i <= 5; ++i) BOOST_TEST(cluster.view(i).coordinator == id(5));
}

BOOST_AUTO_TEST_CASE(when_the_coordinator_fails_the_others_come_together_without_it) {
  World cluster = all_together(4);
  cluster.fail(4);
  BOOST_TEST(cluster.settle({{id(1), id(2), id(3)}}));
  BOOST_TEST(cluster.view(1).coordinator == id(3));
}

BOOST_AUTO_TEST_CASE(a_cut_leaves_one_group_on_each_side_and_healing_merges_them) {
  World cluster = all_together(5);
  for (std::uint32_t i : {1u, 2u})
    for (std::uint32_t j : {3u, 4u, 5u}) {
      cluster.cut(i, j);
      cluster.cut(j, i);
    }
  BOOST_TEST(cluster.settle({{id(1), id(2)}, {id(3), id(4), id(5)}}));
  const GroupNumber left = *cluster.view(1).group;
  const GroupNumber right = *cluster.view(5).group;
  BOOST_TEST(left != right);
  cluster.heal();
  BOOST_TEST(cluster.settle());
  BOOST_TEST((*cluster.view(1).group > left && *cluster.view(1).group > right));
}

BOOST_AUTO_TEST_CASE(a_member_that_falls_silent_is_lost_and_a_new_definition_made) {
  World cluster = all_together(3);
  const GroupNumber before = *cluster.view(3).group;
  cluster.fail(1);
  BOOST_TEST(cluster.settle({{id(2), id(3)}}));
  while (*cluster.view(3).group == before && cluster.advance()) continue;
  BOOST_TEST(cluster.settle({{id(2), id(3)}}));
  BOOST_TEST(*cluster.view(3).up == NodeSet{id(2)});
}

// "A member stuck in reorganization": the coordinator is Normal and has node 2 in Up, but node 2 is
// still in Reorganization.
BOOST_AUTO_TEST_CASE(a_member_that_missed_its_ready_is_told_no) {
  for (const bool tells : {true, false}) {
    Repairs repairs;
    repairs.probe_tells_status = tells;
    Node2 node(repairs);
    node.group_of_one();
    node.expire(Timer::check);
    node.answered(1, Coordinating{true, {}, 5});
    node.answered(3, Coordinating{false, {}, 5});
    const GroupNumber group = *node.state().g;
    node.answered(1, Invited{true, 5});
    node.called(1, Accept{group, {}, {}});
    node.end_hooks();
    node.answered(1, Installed{});
    BOOST_REQUIRE((node.state().s == Status::Normal && node.state().c == id(2)));
    const auto says = [&](Status status) {
      return answer<Membership>(node.called(1, invitation::AreYouThere{group, status}))->member;
    };
    BOOST_TEST(says(Status::Normal));
    BOOST_TEST(says(Status::Reorganization) == !tells);
  }
}

BOOST_AUTO_TEST_CASE(an_invitation_into_the_own_group_is_ignored) {
  for (const bool ignores : {true, false}) {
    Repairs repairs = Repairs::none();
    repairs.ignore_own_group = ignores;
    Node2 node(repairs);
    node.member_of_3();
    node.called(1, Invitation{group_of_3()});
    BOOST_TEST((node.state().s == Status::Normal) == ignores);
  }
}

// "The race of Accept and Ready": Ready overtakes the answer to Accept.
BOOST_AUTO_TEST_CASE(a_ready_before_the_answer_to_accept_is_not_lost) {
  for (const bool first : {true, false}) {
    Repairs repairs;
    repairs.reorganization_first = first;
    repairs.report_refusals = first;
    Node2 node(repairs);
    node.accepting();
    node.called(3, invitation::Ready{group_of_3(), Incarnation{1}, {"task"}});
    node.end_hooks();
    BOOST_TEST((node.state().s == Status::Normal) == first);
  }
}

// "Other points": when the answer comes, the group about which the node asked is over.
BOOST_AUTO_TEST_CASE(a_late_no_about_what_is_over_is_not_followed) {
  for (const bool rechecks : {true, false}) {
    Repairs repairs;
    repairs.recheck_probe = rechecks;
    Node2 node(repairs);
    node.accepting();
    node.answered(3, Here{});
    node.expire(Timer::coordinator);
    const Letter probe = node.world.sent().back();
    node.called(3, Answer{Membership{true}});  // an answer without a call has no effect
    BOOST_TEST(node.view().procedure == Wait::Probing);
    node.called(3, invitation::Ready{group_of_3(), Incarnation{1}, {"task"}});
    node.end_hooks();
    node.give(Received{{id(3), Incarnation{1}, id(2), probe.call, Answer{Membership{false}}}});
    BOOST_TEST((node.state().s == Status::Normal) == rechecks);
  }
}

// "The group counter": if the counter is volatile, a restarted node gives a new group an old
// number.
BOOST_AUTO_TEST_CASE(a_number_is_never_used_again_thanks_to_the_safe_counter) {
  for (const bool safe : {true, false}) {
    Node2 node;
    node.world.volatile_counter = !safe;
    node.group_of_one();
    const GroupNumber before = *node.state().g;
    node.world.fail(2);
    node.world.recover(2);
    BOOST_TEST((*node.state().g != before) == safe);
  }
}

BOOST_AUTO_TEST_CASE(
    a_member_that_refuses_its_ready_is_left_out_and_the_others_are_invited_at_once) {
  group_of_one();
  expire(Timer::check);
  for (std::uint32_t other : {1U, 3U}) answered(other, Coordinating{true, {}, 5});
  expire(Timer::merge);
  const GroupNumber group = *state().g;
  for (std::uint32_t other : {1U, 3U}) answered(other, Invited{true, 5});
  for (std::uint32_t other : {1U, 3U}) called(other, Accept{group, {}, {}});
  end_hooks();
  answered(3, Installed{});
  const Actions& actions = answered(1, Refused{"start failed: no room"});
  BOOST_TEST(sent<Invitation>(actions) == Nodes({3}));
  BOOST_TEST(*state().g > group);
}

// The node's `start` succeeds only when the node is alone. If the node did not step back, the
// others would invite it again and again, and each failed `start` would cost them their group.
BOOST_AUTO_TEST_CASE(
    a_node_whose_start_fails_twice_in_company_stands_back_though_it_succeeds_alone) {
  group_of_one();
  for (std::uint64_t times = 0; times < 2; ++times) {
    BOOST_REQUIRE(!state().leaving.has_value());
    const GroupNumber group{100 + times, id(3)};
    called(3, Invitation{group});
    end_hooks();
    answered(3, Here{});
    called(3, invitation::Ready{group, Incarnation{1}, {"task"}});
    const auto* refused = answer<Refused>(end_hook(false));
    BOOST_TEST(refused);
    if (times > 0) break;
    end_hooks();
    expire(Timer::retry);
    group_of_one();
  }
  BOOST_TEST(state().leaving == LeaveCause::stood_back);
}

BOOST_AUTO_TEST_CASE(paused_does_what_recovery_does_in_the_same_life) {
  member_of_3();
  world.pause(2);
  world.resume(2);
  BOOST_TEST((state().s == Status::Election && state().c == id(2)));
  BOOST_TEST(node().safe.incarnation == Incarnation{1});
}

BOOST_AUTO_TEST_CASE(a_letter_of_a_life_that_is_over_is_ignored) {
  group_of_one();
  restarts(3);
  called(3, AreYouCoordinator{});
  BOOST_TEST(give(Received{{id(3), {1}, id(2), {1}, Invitation{group_of_3()}}}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
