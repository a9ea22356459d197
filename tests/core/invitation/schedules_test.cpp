#include "core/world/letters.hpp"
#include "core/world/world.hpp"

#include <boost/test/unit_test.hpp>

/// Schedules of whole clusters, from docs/protocols/invitation/findings.md. Each schedule runs with
/// the paper's text, and with each single switch that remedies it.

namespace muster::test {

namespace {

using invitation::Repairs;

/// The paper's text with only this switch on.
Repairs literal_but(bool Repairs::*on) {
  Repairs repairs = Repairs::none();
  repairs.*on = true;
  return repairs;
}

using Held = std::set<std::pair<std::uint32_t, std::uint32_t>>;

/// Like `World::run`, but holds up the letters between these pairs of nodes.
void run_but(World& world, const Held& held) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t from = 1; from <= world.size(); ++from)
      for (std::uint32_t to = 1; to <= world.size(); ++to) {
        if (from == to || held.contains({from, to})) continue;
        if (!held.contains({to, from})) moved = world.connect(from, to) || moved;
        while (world.deliver(from, to)) moved = true;
      }
    for (std::uint32_t node = 1; node <= world.size(); ++node)
      moved = world.end_hook(node) || moved;
  }
}

/// Node `by` begins a merge, and asks all nodes whether they are coordinators. The nodes in
/// `silent` do not answer.
void merge(World& world, std::uint32_t by, const std::vector<std::uint32_t>& silent = {},
           const Held& held = {}) {
  BOOST_REQUIRE(world.expire(by, Timer::check));
  for (bool more = true; more;) {
    run_but(world, held);
    more = false;
    if (world.view(by).procedure != Wait::Checking) break;
    for (std::uint32_t node : silent) more = world.silence(by, node) || more;
  }
  if (world.view(by).procedure == Wait::GivingWay) BOOST_REQUIRE(world.expire(by, Timer::merge));
  run_but(world, held);
}

/// Ends the time in which the coordinator `at` waits for Accepts.
void time_is_up(World& world, std::uint32_t at, const Held& held = {}) {
  if (world.view(at).procedure == Wait::Inviting) BOOST_REQUIRE(world.expire(at, Timer::accepts));
  run_but(world, held);
}

void group_of_one(World& world, std::uint32_t node) {
  BOOST_REQUIRE(world.recover(node));
  world.run();
  BOOST_REQUIRE(world.view(node).coordinator == id(node));
}

bool is_normal(const World& world, std::uint32_t node, std::uint32_t coordinator) {
  const View view = world.view(node);
  return view.status == Status::Normal && view.coordinator == id(coordinator);
}

/// Node 2 is a coordinator. Node 3 believes that node 2 has failed, and forms a group of its own.
World two_has_three_still_in_up(Repairs repairs) {
  World world(3, of_invitation(repairs));
  group_of_one(world, 2);
  group_of_one(world, 3);
  merge(world, 2, {1});
  time_is_up(world, 2);
  BOOST_REQUIRE(is_normal(world, 3, 2));
  BOOST_REQUIRE(world.expire(3, Timer::coordinator));
  BOOST_REQUIRE(world.silence(3, 2));
  world.run();
  BOOST_REQUIRE(is_normal(world, 2, 2) && is_normal(world, 3, 3));
  BOOST_REQUIRE(world.view(2).up->contains(id(3)));
  group_of_one(world, 1);
  return world;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schedules)

// "A member stuck in reorganization", row I7. Node 1 invites nodes 2 and 3. Node 3 joins and is
// Normal when node 2's forwarded Invitation into the same group arrives. Node 3's second Accept is
// too late, but node 3 is in Up already. Then node 2 fails.
BOOST_AUTO_TEST_CASE(a_second_invitation_into_the_same_group) {
  const auto comes_together = [](Repairs repairs) {
    World world = two_has_three_still_in_up(repairs);
    const Held forwarded{{2, 3}};
    merge(world, 1, {}, forwarded);
    time_is_up(world, 1, forwarded);
    BOOST_REQUIRE(is_normal(world, 1, 1) && is_normal(world, 3, 1));
    BOOST_REQUIRE(world.letters_between(2, 3) > 0);
    run_but(world, {{2, 1}});
    world.fail(2);
    return world.settle({{id(1), id(3)}}, 300);
  };
  BOOST_TEST(!comes_together(Repairs::none()));
  BOOST_TEST(comes_together(literal_but(&Repairs::probe_tells_status)));
  BOOST_TEST(comes_together(literal_but(&Repairs::ignore_own_group)));
  BOOST_TEST(comes_together({}));
}

// "A member stuck in reorganization": an Accept of a life that is over adds node 3 to Up. Later the
// next life of node 3 gets the forwarded Invitation, and misses Ready.
BOOST_AUTO_TEST_CASE(a_ghost_accept) {
  const auto comes_together = [](Repairs repairs) {
    World world = two_has_three_still_in_up(repairs);
    const Held late{{2, 3}, {3, 1}};
    BOOST_REQUIRE(world.expire(1, Timer::check));
    run_but(world, {{2, 3}});
    if (world.view(1).procedure == Wait::GivingWay) BOOST_REQUIRE(world.expire(1, Timer::merge));
    for (std::uint32_t node : {3U, 2U}) {  // the paper's text sends Invitations one by one
      run_but(world, late);
      world.silence(1, node);
    }
    run_but(world, late);
    BOOST_REQUIRE(world.view(3).coordinator == id(1) || world.view(3).status == Status::Election);
    world.fail(3);
    world.recover(3);
    run_but(world, late);
    run_but(world, {{2, 3}});  // the Accept of the earlier life
    time_is_up(world, 1, {{2, 3}});
    run_but(world, {{2, 1}});
    world.fail(2);
    return world.settle({{id(1), id(3)}}, 300);
  };
  BOOST_TEST(!comes_together(Repairs::none()));
  BOOST_TEST(comes_together(literal_but(&Repairs::probe_tells_status)));
  BOOST_TEST(comes_together(literal_but(&Repairs::tags)));
  BOOST_TEST(comes_together({}));
}

// "The group counter", row I4. Node 2 restarts, counts from 0 again, and forms its second group,
// with node 3. Node 1 is still Normal in an earlier second group of node 2.
BOOST_AUTO_TEST_CASE(a_volatile_counter) {
  const auto forms_second_groups = [](bool safe) {
    Repairs repairs = Repairs::none();
    repairs.safe_counter = safe;
    World world(3, of_invitation(repairs));
    group_of_one(world, 1);
    group_of_one(world, 2);
    merge(world, 2, {3});
    time_is_up(world, 2);
    BOOST_REQUIRE(is_normal(world, 1, 2));
    world.fail(2);
    group_of_one(world, 2);
    group_of_one(world, 3);
    merge(world, 2);
    time_is_up(world, 2);
    BOOST_TEST(is_normal(world, 1, 2));
    BOOST_TEST(is_normal(world, 3, 2));
  };
  BOOST_CHECK_NO_THROW(forms_second_groups(true));
  BOOST_CHECK_EXCEPTION(forms_second_groups(false), Violation, [](const Violation& wrong) {
    return std::string(wrong.what()).starts_with("assertion 3b");
  });
}

// "Other points": two coordinators merge at the same time and decline each other's Invitation.
// Before their next merges the two wait for different times, in proportion to the distance of their
// ids.
BOOST_AUTO_TEST_CASE(a_mutual_invitation) {
  for (const Repairs& repairs : {Repairs{}, Repairs::none()}) {
    World world(2, of_invitation(repairs));
    group_of_one(world, 1);
    group_of_one(world, 2);
    BOOST_REQUIRE(world.expire(1, Timer::check));
    BOOST_REQUIRE(world.deliver(1, 2) && world.deliver(2, 1));
    BOOST_TEST(world.view(1).procedure == Wait::GivingWay);
    BOOST_REQUIRE(world.expire(2, Timer::check));
    BOOST_REQUIRE(world.deliver(2, 1));
    BOOST_REQUIRE(world.expire(1, Timer::merge));
    BOOST_REQUIRE(world.deliver(1, 2));  // node 2's answer says that it is a Normal coordinator
    BOOST_TEST(world.view(1).procedure == Wait::Inviting);
    BOOST_TEST(world.view(2).procedure == Wait::Inviting);
    world.run();
    for (std::uint32_t node : {1U, 2U}) time_is_up(world, node);
    BOOST_TEST((is_normal(world, 1, 1) && is_normal(world, 2, 2)));
    BOOST_TEST(world.settle());
    BOOST_TEST(is_normal(world, 1, 2));
  }
}

// "Other points": in the paper's text a coordinator never asks its members.
BOOST_AUTO_TEST_CASE(a_member_that_fell_silent) {
  for (const bool is_lost : {true, false}) {
    Repairs repairs;
    repairs.lost_members = is_lost;
    World world(2, of_invitation(repairs));
    group_of_one(world, 1);
    group_of_one(world, 2);
    BOOST_REQUIRE(world.settle());
    world.fail(1);
    for (int turns = 0; turns < 30; ++turns) world.advance();
    BOOST_TEST(world.view(2).up->contains(id(1)) == !is_lost);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// The letters of a fail-over and of a merge by the paper's text. Requests and answers both count.
// The paper gives such counts only for the Bully, so each formula here is derived beside its test.
BOOST_AUTO_TEST_SUITE(invitation_messages)

namespace {

World all_together(std::uint32_t n) {
  return settled(n, of_invitation(Repairs::none()));
}

/// Coordinator n fails. Its m members ask it, get no answer, and each form a group of their own.
/// Then the highest of them merges the groups, either before the others have looked for
/// coordinators, or after all have done so.
std::size_t of_a_fail_over(std::uint32_t n, bool all_have_looked) {
  World world = all_together(n);
  const std::uint32_t m = n - 1;
  world.fail(n, true);
  const std::size_t before = world.sent().size();
  for (std::uint32_t i = 1; i <= m; ++i) {
    BOOST_REQUIRE(world.expire(i, Timer::coordinator));
    BOOST_REQUIRE(world.silence(i, n));
  }
  world.run();
  for (std::uint32_t i = 1; i < m && all_have_looked; ++i) {
    BOOST_REQUIRE(world.expire(i, Timer::check));
    world.run();
    BOOST_REQUIRE(world.silence(i, n));
    BOOST_REQUIRE(world.view(i).procedure == Wait::GivingWay);
  }
  merge(world, m, {n});
  time_is_up(world, m);
  for (std::uint32_t i = 1; i <= m; ++i) BOOST_REQUIRE(is_normal(world, i, m));
  return world.sent().size() - before;
}

}  // namespace

// m questions to the dead node, m-1 answered AreYouCoordinator and one unanswered. For each of m-1
// nodes an Invitation, an Accept and a Ready, all answered. Together m + 8(m-1) + 1, which is 9n -
// 16.
BOOST_AUTO_TEST_CASE(a_fail_over_at_best_9_n_less_16) {
  for (std::uint32_t n = 3; n <= 7; ++n) BOOST_TEST(of_a_fail_over(n, false) == 9 * n - 16);
}

// All m look for coordinators before the highest merges: m + m(2(m-1) + 1) + 6(m-1), which is 2n^2
// + 2n - 10.
BOOST_AUTO_TEST_CASE(a_fail_over_at_worst_2_n_squared_and_2_n_less_10) {
  for (std::uint32_t n = 3; n <= 7; ++n)
    BOOST_TEST(of_a_fail_over(n, true) == 2 * n * n + 2 * n - 10);
}

// Four messages and their answers pass once between each other node and some coordinator:
// AreYouCoordinator, Invitation (which may be forwarded), Accept and Ready. That is 8(n-1),
// whatever the sizes of the two groups.
BOOST_AUTO_TEST_CASE(a_merge_of_two_groups_takes_8_for_each_other_node) {
  for (std::uint32_t n = 2; n <= 7; ++n)
    for (std::uint32_t left = 1; left < n; ++left) {
      World world(n, of_invitation(Repairs::none()));
      NodeSet sides[2];
      for (std::uint32_t i = 1; i <= n; ++i) sides[i > left].insert(id(i));
      for (NodeId i : sides[0])
        for (NodeId j : sides[1]) {
          world.cut(i.value, j.value);
          world.cut(j.value, i.value);
        }
      for (std::uint32_t i = 1; i <= n; ++i) world.recover(i);
      BOOST_REQUIRE(world.settle({sides[0], sides[1]}));
      for (bool more = true; more;) {  // calls across the cut become unanswered
        world.run();
        more = false;
        for (NodeId i : sides[0])
          for (NodeId j : sides[1]) {
            more = world.silence(i.value, j.value) || more;
            more = world.silence(j.value, i.value) || more;
          }
      }
      for (NodeId i : sides[0])
        for (NodeId j : sides[1]) world.reset(i.value, j.value);
      world.heal();
      world.run();
      const std::size_t before = world.sent().size();
      merge(world, n);
      time_is_up(world, n);
      for (std::uint32_t i = 1; i <= n; ++i) BOOST_REQUIRE(is_normal(world, i, n));
      BOOST_TEST(world.sent().size() - before == 8 * (n - 1));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
