#include "core/protocol/letters.hpp"
#include "core/protocol/world.hpp"

#include <boost/test/unit_test.hpp>

/// Section 4 of the paper: one test a sentence; and what a single node makes of 6.15 to 6.18.

namespace muster::test::any {

BOOST_AUTO_TEST_SUITE(section_4)

namespace {

using invitation::Accept;
using invitation::AreYouCoordinator;
using invitation::Coordinating;
using invitation::Invitation;
using invitation::Invited;
using invitation::Membership;
using invitation::Repairs;

NodeId id(std::uint32_t node) {
  return NodeId{node};
}

Config config(Repairs repairs = {}) {
  Config made;
  made.protocol = ProtocolName::invitation;
  made.invitation_repairs = repairs;
  return made;
}

/// The first answer of that kind; null where none is given.
template <class Kind>
const Kind* answered(const Actions& actions) {
  for (const Action& action : actions)
    if (const auto* send = std::get_if<Send>(&action))
      if (const auto* what = std::get_if<Answer>(&send->letter.message))
        if (const auto* kind = std::get_if<Kind>(&what->result)) return kind;
  return nullptr;
}

/// Node 2 of three, up; the others are played by the test.
class Alone {
 public:
  explicit Alone(Repairs repairs = {}) : world(3, config(repairs)) {
    world.claim = false;
    world.recover(2);
  }
  const Actions& give(const Event& event) { return world.give(2, event); }
  const Actions& called(std::uint32_t by, Message message, std::uint64_t life = 1) {
    return give(
        Received{{id(by), Incarnation{life}, id(2), CallNumber{++call_}, std::move(message)}});
  }
  const Actions& answer(std::uint32_t by, Result result) {
    for (const auto& [number, call] : world[2].calls)
      if (call.letter.to == id(by)) {
        const CallNumber oldest = number;
        return give(Received{{id(by), Incarnation{1}, id(2), oldest, Answer{std::move(result)}}});
      }
    BOOST_FAIL("no call to " << by);
    return give(Leaving{});
  }
  [[nodiscard]] const invitation::State& state() const {
    return std::get<invitation::State>(world[2].protocol);
  }
  void group_of_one() {
    world.run();
    BOOST_REQUIRE(state().s == Status::Normal);
  }
  void member_of_3() {
    group_of_one();
    called(3, Invitation{group_of_3()});
    world.run();
    answer(3, Here{});
    called(3, invitation::Ready{group_of_3(), Incarnation{1}, {"task"}});
    world.run();
    BOOST_REQUIRE(state().s == Status::Normal && state().c == id(3));
  }
  static GroupNumber group_of_3() { return {100, id(3)}; }

  World world;

 private:
  std::uint64_t call_ = 1000;
};

World all_together(std::uint32_t nodes, Repairs repairs = {}) {
  World world(nodes, config(repairs));
  for (std::uint32_t i = 1; i <= nodes; ++i) world.recover(i);
  BOOST_REQUIRE(world.settle());
  return world;
}

}  // namespace

BOOST_AUTO_TEST_CASE(recovery_makes_a_one_node_group_with_a_fresh_number) {
  Alone node;
  BOOST_TEST((node.state().s == Status::Election));
  BOOST_TEST((node.state().g == GroupNumber{1, id(2)}));
  node.world.run();
  BOOST_TEST((node.state().s == Status::Normal && node.state().c == id(2)));
  BOOST_TEST(node.state().up.empty());
}

BOOST_AUTO_TEST_CASE(the_counter_is_in_safe_storage_before_it_is_used) {
  Alone node;
  BOOST_TEST(node.world[2].safe.counter_limit >= 1u);
  node.world.fail(2);
  node.world.recover(2);
  BOOST_TEST(node.state().g->counter > 1u);
}

BOOST_AUTO_TEST_CASE(only_a_normal_coordinator_says_that_it_is_one) {
  Alone node;
  BOOST_TEST(!answered<Coordinating>(node.called(3, AreYouCoordinator{}))->coordinator);
  node.group_of_one();
  BOOST_TEST(answered<Coordinating>(node.called(3, AreYouCoordinator{}))->coordinator);
  Alone member;
  member.member_of_3();
  BOOST_TEST(!answered<Coordinating>(member.called(1, AreYouCoordinator{}))->coordinator);
}

BOOST_AUTO_TEST_CASE(an_invitation_is_declined_outside_normal) {
  Alone node;
  const auto* invited = answered<Invited>(node.called(3, Invitation{Alone::group_of_3()}));
  BOOST_REQUIRE(invited);
  BOOST_TEST(!invited->coming);
  BOOST_TEST((node.state().g == GroupNumber{1, id(2)}));
}

BOOST_AUTO_TEST_CASE(an_invited_node_stops_joins_and_accepts_when_it_has_stopped) {
  Alone node;
  node.group_of_one();
  const Actions invited = node.called(3, Invitation{Alone::group_of_3()});
  BOOST_TEST(answered<Invited>(invited)->coming);
  BOOST_TEST(sent<Accept>(invited).empty());
  BOOST_TEST((node.state().s == Status::Election && node.state().c == id(3)));
  node.world.run();
  BOOST_TEST((node.state().s == Status::Reorganization));
  BOOST_TEST((std::holds_alternative<Accept>(node.world.sent().back().message)));
  BOOST_TEST(!std::get<Accept>(node.world.sent().back().message).holdings.report.data.empty());
}

BOOST_AUTO_TEST_CASE(an_unanswered_accept_is_followed_by_recovery) {
  Alone node;
  node.group_of_one();
  node.called(3, Invitation{Alone::group_of_3()});
  node.world.run();
  node.world.give_up(2, 3);
  BOOST_TEST((node.state().c == id(2) && node.state().g->counter > 100u));
}

BOOST_AUTO_TEST_CASE(ready_installs_the_definition_in_reorganization_of_that_group) {
  Alone node;
  node.member_of_3();
  BOOST_TEST(node.state().d->data == "task");
  BOOST_TEST((node.world[2].safe.assigned->group == Alone::group_of_3()));
}

BOOST_AUTO_TEST_CASE(ready_of_another_group_is_refused) {
  Alone node;
  node.group_of_one();
  node.called(3, Invitation{Alone::group_of_3()});
  node.world.run();
  node.answer(3, Here{});
  const GroupNumber older{Alone::group_of_3().counter - 1, id(3)};
  BOOST_TEST(answered<Refused>(
      node.called(3, invitation::Ready{older, Incarnation{1}, {"the task of another group"}})));
  BOOST_TEST((node.state().s == Status::Reorganization && !node.state().d));
}

BOOST_AUTO_TEST_CASE(timeout_asks_the_coordinator_and_a_no_is_followed_by_recovery) {
  Alone node;
  node.member_of_3();
  BOOST_REQUIRE(node.world.expire(2, Timer::coordinator));
  BOOST_TEST(node.world.view(2).procedure == Wait::Probing);
  node.answer(3, Membership{true});
  BOOST_TEST((node.state().s == Status::Normal && node.state().c == id(3)));
  BOOST_REQUIRE(node.world.expire(2, Timer::coordinator));
  node.answer(3, Membership{false});
  BOOST_TEST((node.state().c == id(2)));
}

BOOST_AUTO_TEST_CASE(a_lower_coordinator_waits_in_proportion_to_the_distance) {
  Alone node;
  node.group_of_one();
  BOOST_REQUIRE(node.world.expire(2, Timer::check));
  node.answer(1, Coordinating{true, {}, 5});
  node.answer(3, Coordinating{true, {}, 7});
  BOOST_TEST(node.world.view(2).procedure == Wait::GivingWay);
  BOOST_TEST(node.world[2].timers.contains(Timer::merge));
  BOOST_REQUIRE(node.world.expire(2, Timer::merge));
  BOOST_TEST(node.world.view(2).procedure == Wait::Inviting);
  BOOST_TEST(node.state().g->counter > 7u);
}

BOOST_AUTO_TEST_CASE(accept_and_are_you_there_are_about_one_group) {
  Alone node;
  node.group_of_one();
  const GroupNumber alone = *node.state().g;
  BOOST_REQUIRE(node.world.expire(2, Timer::check));
  node.answer(1, Coordinating{true, {}, 5});
  node.answer(3, Coordinating{false, {}, 5});
  node.answer(1, Invited{true, 5});
  BOOST_TEST(answered<Refused>(node.called(1, Accept{alone, {}, {}})));
  BOOST_TEST(node.state().up.empty());
  const GroupNumber group = *node.state().g;
  BOOST_TEST(answered<Here>(node.called(1, Accept{group, {}, {}})));
  BOOST_TEST((node.state().up.size() == 1u && node.state().up.front().node == id(1)));
  const auto is_member = [&](GroupNumber of) {
    const invitation::AreYouThere question{of, Status::Reorganization};
    return answered<Membership>(node.called(1, question))->member;
  };
  BOOST_TEST(is_member(group));
  BOOST_TEST(!is_member(alone));
}

BOOST_AUTO_TEST_CASE(all_nodes_come_together_under_the_highest) {
  const World world = all_together(5);
  for (std::uint32_t i = 1; i <= 5; ++i) BOOST_TEST((world.view(i).coordinator == id(5)));
}

BOOST_AUTO_TEST_CASE(when_the_coordinator_fails_the_others_come_together_without_it) {
  World world = all_together(4);
  world.fail(4);
  BOOST_TEST(world.settle({{id(1), id(2), id(3)}}));
  BOOST_TEST((world.view(1).coordinator == id(3)));
}

BOOST_AUTO_TEST_CASE(a_cut_leaves_one_group_on_each_side_and_healing_merges_them) {
  World world = all_together(5);
  for (std::uint32_t i : {1u, 2u})
    for (std::uint32_t j : {3u, 4u, 5u}) {
      world.cut(i, j);
      world.cut(j, i);
    }
  BOOST_TEST(world.settle({{id(1), id(2)}, {id(3), id(4), id(5)}}));
  const GroupNumber left = *world.view(1).group;
  const GroupNumber right = *world.view(5).group;
  BOOST_TEST((left != right));
  world.heal();
  BOOST_TEST(world.settle());
  BOOST_TEST((*world.view(1).group > left && *world.view(1).group > right));
}

BOOST_AUTO_TEST_CASE(a_member_that_falls_silent_is_lost_and_a_new_definition_made) {
  World world = all_together(3);
  const GroupNumber before = *world.view(3).group;
  world.fail(1);
  BOOST_TEST(world.settle({{id(2), id(3)}}));
  while (*world.view(3).group == before && world.advance()) continue;
  BOOST_TEST(world.settle({{id(2), id(3)}}));
  BOOST_TEST((*world.view(3).up == NodeSet{id(2)}));
}

// 6.16: the coordinator is Normal and has 2 in Up, and 2 is still in Reorganization.
BOOST_AUTO_TEST_CASE(a_member_that_missed_its_ready_is_told_no) {
  for (const bool tells : {true, false}) {
    Repairs repairs;
    repairs.probe_tells_status = tells;
    Alone node(repairs);
    node.group_of_one();
    BOOST_REQUIRE(node.world.expire(2, Timer::check));
    node.answer(1, Coordinating{true, {}, 5});
    node.answer(3, Coordinating{false, {}, 5});
    const GroupNumber group = *node.state().g;
    node.answer(1, Invited{true, 5});
    node.called(1, Accept{group, {}, {}});
    node.world.end_hook(2);  // its own stop
    node.world.run();
    node.answer(1, Installed{});
    BOOST_REQUIRE((node.state().s == Status::Normal && node.state().c == id(2)));
    const auto says = [&](Status status) {
      return answered<Membership>(node.called(1, invitation::AreYouThere{group, status}))->member;
    };
    BOOST_TEST(says(Status::Normal));
    BOOST_TEST(says(Status::Reorganization) == !tells);
  }
}

BOOST_AUTO_TEST_CASE(an_invitation_into_the_own_group_is_ignored) {
  for (const bool ignores : {true, false}) {
    Repairs repairs = Repairs::none();
    repairs.ignore_own_group = ignores;
    Alone node(repairs);
    node.member_of_3();
    node.called(1, Invitation{Alone::group_of_3()});
    BOOST_TEST((node.state().s == Status::Normal) == ignores);
  }
}

// 6.15: Ready overtakes the answer to Accept.
BOOST_AUTO_TEST_CASE(a_ready_before_the_answer_to_accept_is_not_lost) {
  for (const bool first : {true, false}) {
    Repairs repairs;
    repairs.reorganization_first = first;
    repairs.report_refusals = first;
    Alone node(repairs);
    node.group_of_one();
    node.called(3, Invitation{Alone::group_of_3()});
    node.world.run();
    node.called(3, invitation::Ready{Alone::group_of_3(), Incarnation{1}, {"task"}});
    node.world.run();
    BOOST_TEST((node.state().s == Status::Normal) == first);
  }
}

// 6.18: what the probe asked about is over when its answer comes.
BOOST_AUTO_TEST_CASE(a_late_no_about_what_is_over_is_not_followed) {
  for (const bool rechecks : {true, false}) {
    Repairs repairs;
    repairs.recheck_probe = rechecks;
    Alone node(repairs);
    node.group_of_one();
    node.called(3, Invitation{Alone::group_of_3()});
    node.world.run();
    node.answer(3, Here{});
    BOOST_REQUIRE(node.world.expire(2, Timer::coordinator));
    const Letter probe = node.world.sent().back();
    node.called(3, Answer{Membership{true}});  // of no call: has no effect
    BOOST_TEST(node.world.view(2).procedure == Wait::Probing);
    node.called(3, invitation::Ready{Alone::group_of_3(), Incarnation{1}, {"task"}});
    node.world.run();
    node.give(Received{{id(3), Incarnation{1}, id(2), probe.call, Answer{Membership{false}}}});
    BOOST_TEST((node.state().s == Status::Normal) == rechecks);
  }
}

// 6.17: with a volatile counter a restarted node forms a new group of an old number.
BOOST_AUTO_TEST_CASE(a_number_is_never_used_again_thanks_to_the_safe_counter) {
  for (const bool safe : {true, false}) {
    Alone node;
    node.world.volatile_counter = !safe;
    node.group_of_one();
    const GroupNumber before = *node.state().g;
    node.world.fail(2);
    node.world.recover(2);
    BOOST_TEST((*node.state().g != before) == safe);
  }
}

BOOST_AUTO_TEST_CASE(paused_does_what_recovery_does_in_the_same_life) {
  Alone node;
  node.member_of_3();
  node.world.pause(2);
  node.world.resume(2);
  BOOST_TEST((node.state().s == Status::Election && node.state().c == id(2)));
  BOOST_TEST((node.world[2].safe.incarnation == Incarnation{1}));
}

BOOST_AUTO_TEST_CASE(a_letter_of_a_life_that_is_over_is_ignored) {
  Alone node;
  node.group_of_one();
  node.called(3, AreYouCoordinator{}, 2);
  BOOST_TEST(node.called(3, Invitation{Alone::group_of_3()}, 1).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test::any
