#pragma once

#include <muster/lab/simulator.hpp>

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

/// `muster simulate`: seeded runs with faults.

namespace muster::apps {

struct SimulateOptions {
  lab::Simulation simulation;
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1000;
  unsigned threads = 2;
  std::optional<std::filesystem::path> out;  ///< where journals go
  bool json = false;
  bool progress = false;      ///< told on the terminal
  bool faults_named = false;  ///< each kind has to come about, however few seeds there are
  std::chrono::seconds seed_limit{60};  ///< how long a seed may run; zero: for ever
  std::string flags;  ///< of the command line, but for seeds and --out: what repeats a run
};

/// In a campaign of so many seeds, or more, each kind of trouble has to come about.
inline constexpr std::uint64_t seeds_of_a_campaign = 200;

/// Runs all seeds; verdicts go to `out`, a reason for any exit code but 0 to `err`. Returns the
/// exit code.
int simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps
