#include "storage/power_trial.hpp"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

// Cuts the power in every I/O of a store's life. It repeats each cut for every state in which the
// cut can leave the disk. Then it goes on with further cuts until it has made the given number of
// them (by default 100,000). After each cut the bench checks that all acknowledged data is there.
// Exit code 1 if anything was lost.

int main(int count, char** arguments) {
  using namespace muster::test;
  const std::uint64_t wanted = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100000;
  const auto begin = std::chrono::steady_clock::now();
  Tally tally;
  // In each round the store's life is longer, so the power is cut in other I/Os.
  for (int commits = 10; tally.cuts < wanted; ++commits) {
    const std::uint64_t changes = changes_of_a_life(commits);
    if (changes == 0) {
      std::cerr << "a life without a cut does not hold\n";
      return 1;
    }
    for (std::uint64_t number = 1; number <= changes && tally.cuts < wanted; ++number)
      tally.add(cut_power_in(number, commits, 5));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout << "cuts=" << tally.cuts << '\n';
  for (std::size_t i = 0; i < std::size(cuts); ++i)
    std::cout << "  " << name_of(cuts[i]) << ": " << tally.by_cut[i] << '\n';
  std::cout << "acknowledged=" << tally.acknowledged << "\nlost=" << tally.lost
            << "\nseconds=" << seconds.count() << '\n';
  for (const std::string& loss : tally.losses) std::cout << loss << '\n';
  return tally.lost == 0 ? 0 : 1;
}
