#include "alone.hpp"

/// The assertions on the Bully. Every step of every test in this directory checks that they hold
/// (checks.hpp). The tests in this file cover the rest.

namespace muster::test {

BOOST_AUTO_TEST_SUITE(assertions)

BOOST_AUTO_TEST_CASE(two_nodes_in_normal_with_the_same_dead_coordinator_satisfy_assertion_1) {
  World world = settled(3);
  world.fail(3);
  const std::vector<Standing> nodes = world.standings();
  BOOST_TEST(!assertion_1a(nodes).has_value());
  BOOST_TEST(!assertion_1b(nodes).has_value());
  BOOST_TEST(assertion_2(nodes).has_value());
}

BOOST_AUTO_TEST_CASE(assertion_2_is_reached_for_every_set_of_nodes_that_stay_up) {
  for (unsigned up = 1; up < 16; ++up) {
    World world(4);
    for (std::uint32_t i = 1; i <= 4; ++i) world.recover(i);
    world.run_until([](const World& now) { return now[4].state().s == Status::Reorganization; });
    for (std::uint32_t i = 1; i <= 4; ++i)
      if ((up >> (i - 1) & 1U) == 0) world.fail(i);
    BOOST_TEST(world.settle());
  }
}

BOOST_AUTO_TEST_CASE(no_application_works_outside_normal_but_between_start_and_stop) {
  World world = settled(2);
  BOOST_TEST(world[1].application.works == world[2].state().g);
  world.fail(2);
  world.recover(2);
  BOOST_REQUIRE(
      world.run_until([](const World& now) { return now[1].state().s == Status::Election; }));
  BOOST_TEST(!world[1].application.permits.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
