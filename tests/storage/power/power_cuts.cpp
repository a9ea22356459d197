#include "storage/power_trial.hpp"

#include <boost/test/unit_test.hpp>

// Cuts the power in every I/O of a life, and then again and again. No acknowledged data may be
// lost.

namespace muster::test {
namespace {

constexpr int commits = 12;
constexpr std::uint64_t shards = 8;

void require_no_loss(const Tally& tally) {
  BOOST_TEST_MESSAGE(tally.cuts << " cuts, " << tally.acknowledged << " commits acknowledged");
  for (const std::string& loss : tally.losses) BOOST_ERROR(loss);
  BOOST_TEST(tally.lost == 0U);
}

// The I/Os are divided among eight shards, each of which takes every eighth I/O, so that CTest can
// run them in parallel.
void cut_every_eighth(std::uint64_t from) {
  const std::uint64_t changes = changes_of_a_life(commits);
  BOOST_REQUIRE(changes > 60U);
  Tally tally;
  for (std::uint64_t number = from; number <= changes; number += shards)
    tally.add(cut_power_in(number, commits, 5));
  BOOST_TEST(tally.cuts >= 625U);
  BOOST_TEST(tally.acknowledged > tally.cuts);
  require_no_loss(tally);
}

BOOST_AUTO_TEST_SUITE(nothing_acknowledged_is_lost)
BOOST_AUTO_TEST_CASE(first_of_eight) {
  cut_every_eighth(1);
}
BOOST_AUTO_TEST_CASE(second_of_eight) {
  cut_every_eighth(2);
}
BOOST_AUTO_TEST_CASE(third_of_eight) {
  cut_every_eighth(3);
}
BOOST_AUTO_TEST_CASE(fourth_of_eight) {
  cut_every_eighth(4);
}
BOOST_AUTO_TEST_CASE(fifth_of_eight) {
  cut_every_eighth(5);
}
BOOST_AUTO_TEST_CASE(sixth_of_eight) {
  cut_every_eighth(6);
}
BOOST_AUTO_TEST_CASE(seventh_of_eight) {
  cut_every_eighth(7);
}
BOOST_AUTO_TEST_CASE(eighth_of_eight) {
  cut_every_eighth(8);
}
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
