#pragma once

#include <muster/lab/simulator.hpp>

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

/// `muster simulate`: runs clusters with random faults, which follow from a seed.

namespace muster::apps {

struct SimulateOptions {
  lab::Simulation simulation;
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1000;
  unsigned threads = 2;
  std::optional<std::filesystem::path> out;  ///< directory for journals
  bool json = false;
  bool progress = false;                ///< show progress on the terminal
  bool faults_named = false;            ///< each kind of fault must occur, even with few seeds
  std::chrono::seconds seed_limit{60};  ///< the longest run of a seed; zero: no limit
  std::string flags;                    ///< flags that repeat a run, without seeds and --out
};

/// In a campaign of at least this many seeds, each kind of trouble has to occur.
inline constexpr std::uint64_t seeds_of_a_campaign = 200;

/// Runs all seeds. Prints verdicts to `out`, and to `err` the reason of an exit code other than 0.
/// Returns the exit code.
int simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps
