#include "core/world/letters.hpp"
#include "core/world/world.hpp"

#include <boost/test/unit_test.hpp>

/// The schedules of 6.16 to 6.18, over whole clusters: what the paper's text comes to, and what
/// each remedy alone makes of it.

namespace muster::test {

namespace {

using invitation::Repairs;

/// The paper's text, and this one switch.
Repairs literal_but(bool Repairs::*on) {
  Repairs repairs = Repairs::none();
  repairs.*on = true;
  return repairs;
}

using Held = std::set<std::pair<std::uint32_t, std::uint32_t>>;

/// `World::run` without the letters that are held up between these.
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

/// A merge begun by `by`, which finds whoever is a coordinator; those in `silent` do not answer.
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

/// The reasonable time for Accepts is over.
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

/// 2 coordinates 3, which believes that 2 has failed, and is a group of its own.
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

// 6.16, I7: 1 invites 2 and 3; 3 joins and is Normal when 2's forwarded Invitation into the same
// group comes. Its Accept is too late, but it is in Up already; 2 fails.
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

// 6.16, I8: the Accept of a life of 3 that is over puts it into Up; its next life is forwarded into
// the group later, and misses Ready.
BOOST_AUTO_TEST_CASE(a_ghost_accept) {
  const auto comes_together = [](Repairs repairs) {
    World world = two_has_three_still_in_up(repairs);
    const Held late{{2, 3}, {3, 1}};
    BOOST_REQUIRE(world.expire(1, Timer::check));
    run_but(world, {{2, 3}});
    if (world.view(1).procedure == Wait::GivingWay) BOOST_REQUIRE(world.expire(1, Timer::merge));
    for (std::uint32_t node : {3U, 2U}) {  // the Invitations, one by one in the paper's text
      run_but(world, late);
      world.silence(1, node);
    }
    run_but(world, late);
    BOOST_REQUIRE(world.view(3).coordinator == id(1) || world.view(3).status == Status::Election);
    world.fail(3);
    world.recover(3);
    run_but(world, late);
    run_but(world, {{2, 3}});  // the Accept of the life that is over
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

// 6.17, I4: 1 is still Normal in 2's second group when 2, which counts from 0 again, forms another
// second group with 3.
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

// 6.18: two coordinators merge at once and decline each other's Invitation. The wait in proportion
// to the distance keeps them apart the next time.
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
    BOOST_REQUIRE(world.deliver(1, 2));  // it was Normal when it said that it is coordinator
    BOOST_TEST(world.view(1).procedure == Wait::Inviting);
    BOOST_TEST(world.view(2).procedure == Wait::Inviting);
    world.run();
    for (std::uint32_t node : {1U, 2U}) time_is_up(world, node);
    BOOST_TEST((is_normal(world, 1, 1) && is_normal(world, 2, 2)));
    BOOST_TEST(world.settle());
    BOOST_TEST(is_normal(world, 1, 2));
  }
}

// 6.18: in the paper's text a coordinator never asks its members.
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

// Letters of a fail-over and of a merge by the paper's text, requests and answers both counted. The
// paper's section 7 counts the Bully only; these are derived where they stand.
BOOST_AUTO_TEST_SUITE(invitation_messages)

namespace {

World all_together(std::uint32_t n) {
  return settled(n, of_invitation(Repairs::none()));
}

/// n, the coordinator, fails; its m members ask it in vain and become groups of their own. Then the
/// highest of them merges: before anybody else has looked for coordinators, or after all have.
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

// m questions to the dead; m-1 answered AreYouCoordinator and one that is not; for each of m-1 an
// Invitation, an Accept and a Ready, answered: m + 8(m-1) + 1, which is 9n - 16.
BOOST_AUTO_TEST_CASE(a_fail_over_at_best_9_n_less_16) {
  for (std::uint32_t n = 3; n <= 7; ++n) BOOST_TEST(of_a_fail_over(n, false) == 9 * n - 16);
}

// All m look for coordinators before the highest merges: m + m(2(m-1) + 1) + 6(m-1), which is
// 2n^2 + 2n - 10.
BOOST_AUTO_TEST_CASE(a_fail_over_at_worst_2_n_squared_and_2_n_less_10) {
  for (std::uint32_t n = 3; n <= 7; ++n)
    BOOST_TEST(of_a_fail_over(n, true) == 2 * n * n + 2 * n - 10);
}

// AreYouCoordinator, Invitation (some of them forwarded), Accept and Ready with their answers pass
// between each other node and some coordinator once: 8(n-1), however large the two groups are.
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
      for (bool more = true; more;) {  // what is asked while the lines are cut
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
