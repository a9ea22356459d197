#include "alone.hpp"

#include <algorithm>

/// The messages of one fail-over. Requests and answers both count
/// (docs/protocols/textbook/README.md). The k highest of n nodes are down, and m is the highest
/// node that is up. Calls to the failed nodes get no answer, and all other calls are answered
/// quickly.

namespace muster::test {

namespace {

enum class Noticed { by_the_highest, by_all };

/// The number of letters from the first Timeout until the group of node m is Normal.
std::size_t letters_of_a_fail_over(std::uint32_t n, std::uint32_t k, Noticed noticed,
                                   Repairs repairs) {
  World world = settled(n, repairs);
  const std::uint32_t m = n - k;
  for (std::uint32_t i = n; i > m; --i) world.fail(i, true);
  const std::size_t before = world.sent().size();
  if (noticed == Noticed::by_the_highest) {
    BOOST_REQUIRE(world.expire(m, Timer::coordinator));
  } else {
    for (std::uint32_t i = 1; i <= m; ++i) BOOST_REQUIRE(world.expire(i, Timer::coordinator));
  }
  // All calls to failed nodes become unanswered at once, before any other timer expires.
  for (bool more = true; more;) {
    world.run();
    more = false;
    for (std::uint32_t i = 1; i <= m; ++i)
      for (std::uint32_t dead = m + 1; dead <= n; ++dead) more = world.silence(i, dead) || more;
  }
  BOOST_REQUIRE(world.are_one_group());
  BOOST_REQUIRE(world[m].state().s == Status::Normal);
  return world.sent().size() - before;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(message_costs)

BOOST_AUTO_TEST_CASE(literally_at_best_1_and_k_and_6_for_each_lower_node) {
  for (std::uint32_t n = 3; n <= 7; ++n)
    for (std::uint32_t k = 1; k < n; ++k) {
      const std::uint32_t m = n - k;
      const std::size_t letters =
          letters_of_a_fail_over(n, k, Noticed::by_the_highest, Repairs::none());
      BOOST_TEST(letters == 1 + k + 6 * (m - 1));
      if (k == 1) BOOST_TEST(letters == 6 * n - 10);
    }
}

BOOST_AUTO_TEST_CASE(literally_when_all_notice_m_and_2_and_k_and_6_for_each_lower_node) {
  for (std::uint32_t n = 3; n <= 7; ++n)
    for (std::uint32_t k = 1; k < n; ++k) {
      const std::uint32_t m = n - k;
      const std::size_t letters = letters_of_a_fail_over(n, k, Noticed::by_all, Repairs::none());
      BOOST_TEST(letters == m + 2 * (m - 1) + k + 6 * (m - 1));
      if (k == 1) BOOST_TEST(letters == 9 * n - 16);
    }
}

BOOST_AUTO_TEST_CASE(
    as_it_ships_6_for_each_lower_node_and_one_question_when_only_the_highest_notices) {
  for (std::uint32_t n = 3; n <= 7; ++n)
    for (std::uint32_t k = 1; k < n; ++k) {
      const std::uint32_t m = n - k;
      // The coordinator is asked once, and the other k - 1 failed nodes are asked in phase A.
      BOOST_TEST(letters_of_a_fail_over(n, k, Noticed::by_the_highest, {}) == k + 6 * (m - 1));
    }
}

// Calls to failed nodes are refused or unanswered. As the protocol ships, the living nodes exchange
// at most 8 letters for each node below the winner.
BOOST_AUTO_TEST_CASE(as_it_ships_at_most_8_between_the_living_for_each_lower_node_when_all_notice) {
  for (std::uint32_t n = 3; n <= 7; ++n) {
    const std::uint32_t m = n - 1;
    const std::size_t letters = letters_of_a_fail_over(n, 1, Noticed::by_all, {});
    BOOST_TEST(letters - m <= 8 * (m - 1));  // without the m questions to the dead coordinator
  }
}

BOOST_AUTO_TEST_CASE(a_proven_death_costs_the_living_at_most_8_for_each_lower_node) {
  for (std::uint32_t n = 3; n <= 7; ++n) {
    World world = settled(n);
    world.fail(n);
    const std::size_t before = world.sent().size();
    BOOST_REQUIRE(world.run_until([](const World& now) { return now.are_one_group(); }));
    std::size_t letters = 0;
    for (std::size_t at = before; at < world.sent().size(); ++at)
      letters += world.sent()[at].to == id(n) ? 0U : 1U;
    BOOST_TEST(letters <= 8 * (n - 2));
  }
}

BOOST_AUTO_TEST_CASE(a_cold_start_of_all_at_once_takes_8_for_each_lower_node_sequentially) {
  for (std::uint32_t n = 3; n <= 7; ++n) {
    World world(n, Repairs::none());
    for (std::uint32_t i = 1; i <= n; ++i) world.recover(i);
    BOOST_REQUIRE(world.run_until([](const World& now) { return now.are_one_group(); }));
    BOOST_TEST(world.sent().size() == 8 * (n - 1));
  }
}

BOOST_AUTO_TEST_CASE(literally_booting_one_by_one_upwards_each_takes_over_from_all_below) {
  for (std::uint32_t n = 2; n <= 7; ++n) {
    World world(n, Repairs::none());
    for (std::uint32_t i = 1; i <= n; ++i) {
      world.recover(i);
      for (bool more = true; more;) {
        world.run();
        more = false;
        for (std::uint32_t dead = i + 1; dead <= n; ++dead) more = world.silence(i, dead) || more;
      }
      BOOST_REQUIRE(world[i].state().s == Status::Normal);
    }
    BOOST_TEST(world.sent().size() == 3 * n * (n - 1) + n * (n - 1) / 2);
  }
}

BOOST_AUTO_TEST_CASE(a_loser_asks_and_is_answered_once) {
  World world(5, Repairs::none());
  for (std::uint32_t i = 1; i <= 5; ++i) world.recover(i);
  world.run();
  for (std::uint32_t i = 1; i < 5; ++i)
    BOOST_TEST(std::count_if(world.sent().begin(), world.sent().end(), [&](const Letter& letter) {
                 return letter.from == id(i) && std::holds_alternative<AreYouThere>(letter.message);
               }) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
