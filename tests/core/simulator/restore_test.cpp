#include <muster/lab/world.hpp>

#include <boost/test/unit_test.hpp>

// Stores that are restored from an older copy (docs/how-to/restore.md).

namespace muster::test {
namespace {

using namespace std::chrono_literals;

constexpr NodeId restored{3};

/// The node's second life ends in a power cut, and the test restores a copy of the store from
/// before that life. So the next life takes itself for the second one.
void comes_back_as_before(lab::World& world) {
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_REQUIRE(world.copy(restored));
  world.power_cut(restored);
  world.restart(restored);
  BOOST_REQUIRE(world.run_until_normal());
  world.power_cut(restored);
  BOOST_REQUIRE(world.restore(restored));
  world.restart(restored);
}

BOOST_AUTO_TEST_SUITE(restores)

BOOST_AUTO_TEST_CASE(only_a_node_that_is_down_and_was_copied_is_restored) {
  lab::World world(3, 1);
  BOOST_TEST(!world.restore(restored));
  BOOST_TEST(world.copy(restored));
  BOOST_TEST(!world.restore(restored));
  world.fail(restored);
  BOOST_TEST(world.restore(restored));
}

BOOST_AUTO_TEST_CASE(a_life_whose_number_was_used_before_is_followed_by_one_above_it) {
  lab::World world(3, 1);
  comes_back_as_before(world);
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(world.safe(restored).incarnation.value == 3u);
  BOOST_TEST(world.verify().holds());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
