#include "storage/damage_trial.hpp"

#include <boost/test/unit_test.hpp>

// A damaged store is either refused, or gives exactly the acknowledged data. `./dev bench
// store_damage` runs five times as many trials.

namespace muster::test {
namespace {

BOOST_AUTO_TEST_CASE(no_damage_changes_what_is_read) {
  DamageTrials trials;
  std::array<int, damage_outcomes> outcomes{};
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const DamageTrials::Result result = trials.damaged(seed);
    BOOST_TEST((result.outcome != DamageOutcome::wrong), result.what);
    ++outcomes.at(static_cast<std::size_t>(result.outcome));
  }
  for (const DamageOutcome met :
       {DamageOutcome::refused, DamageOutcome::exact, DamageOutcome::without_the_last})
    BOOST_TEST(outcomes.at(static_cast<std::size_t>(met)) > 10);
}

BOOST_AUTO_TEST_CASE(no_lost_sector_does) {
  DamageTrials trials;
  for (const bool of_log : {false, true}) {
    for (std::size_t sector = 0; sector < trials.sectors(of_log); ++sector) {
      for (const char fill : {'\0', '\xff'}) {
        const DamageTrials::Result result = trials.with_a_lost_sector(of_log, sector, fill);
        BOOST_TEST((result.outcome != DamageOutcome::wrong), result.what);
      }
    }
  }
}

}  // namespace
}  // namespace muster::test
