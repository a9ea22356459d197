#include <muster/lab/world.hpp>

#include <boost/test/unit_test.hpp>

// Stores that are put back to an older copy (docs/operating.md).

namespace muster::test {
namespace {

using namespace std::chrono_literals;

constexpr NodeId restored{3};

/// Its second life is over without a word, and it begins a second one again.
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

BOOST_AUTO_TEST_CASE(only_what_is_down_and_was_copied_is_put_back) {
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
