#include "storage/damage_trial.hpp"

#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>

// Damages the files of a store in the given number of random ways (by default 10,000). The bench
// also overwrites each sector of these files, once with zeros and once with ones. A damaged store
// must either be refused, or give exactly the acknowledged data. Exit code 1 otherwise.

int main(int count, char** arguments) {
  using namespace muster::test;
  const std::uint64_t wanted = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 10000;
  const auto begin = std::chrono::steady_clock::now();
  std::array<std::array<std::uint64_t, damage_outcomes>, damage_kinds + 1> counts{};
  std::uint64_t wrong = 0;
  const auto add = [&](std::size_t row, const DamageTrials::Result& result) {
    ++counts.at(row).at(static_cast<std::size_t>(result.outcome));
    if (result.outcome != DamageOutcome::wrong) return;
    ++wrong;
    std::cout << result.what << '\n';
  };
  DamageTrials trials;
  for (std::uint64_t seed = 1; seed <= wanted; ++seed) {
    const DamageTrials::Result result = trials.damaged(seed);
    add(static_cast<std::size_t>(result.kind), result);
  }
  for (const bool of_log : {false, true})
    for (std::size_t sector = 0; sector < trials.sectors(of_log); ++sector)
      for (const char fill : {'\0', '\xff'})
        add(damage_kinds, trials.with_a_lost_sector(of_log, sector, fill));
  std::cout << std::setw(14) << "";
  for (const char* outcome : damage_outcome_names) std::cout << std::setw(18) << outcome;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    std::cout << '\n'
              << std::setw(14) << (row < damage_kinds ? damage_names.at(row) : "each sector");
    for (const std::uint64_t times : counts.at(row)) std::cout << std::setw(18) << times;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout << "\nseconds=" << seconds.count() << '\n';
  return wrong == 0 ? 0 : 1;
}
