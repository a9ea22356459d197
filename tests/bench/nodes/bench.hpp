#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/values/types.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Benchmarks of nodes: real processes and real safe storage.

namespace muster::apps {

/// The program of that name in the directory of this one.
std::filesystem::path program_beside(const std::string& name);

struct FailoverOptions {
  std::size_t nodes = 5;
  std::size_t reps = 30;
  bool crash = true;
  bool silent = true;
  bool none = true;    ///< with an application whose hooks return at once
  bool shards = true;  ///< with the shards, 100 records a second on each node
  bool tls = false;    ///< each of those, and then with certificates
  bool json = false;
};
/// How long it takes from a fault of the coordinator until the last survivor's application was
/// started.
int bench_failover(const FailoverOptions& options);

struct StabilityOptions {
  std::size_t nodes = 5;
  std::vector<Duration> T;  ///< those to try; empty: the default alone
  Duration time = std::chrono::seconds(30);
  std::size_t rounds = 1;
  bool json = false;
};
/// Elections and pauses without any fault, idle and with two busy loops beside.
int bench_stability(const StabilityOptions& options);

struct SoakOptions {
  std::size_t nodes = 5;
  std::size_t faults = 1000;
  Duration time{};  ///< as many faults as fit; zero: `faults` of them
  std::uint64_t seed = 1;
  ProtocolName protocol = ProtocolName::bully;
  Duration T = Timings{}.T;
  bool json = false;
};
/// Random kill -9, restarts, pauses and broken connections; then journals and records are judged.
int bench_soak(const SoakOptions& options);

struct CheckerOptions {
  std::uint64_t limit_states = 100'000'000;  ///< of each world
  bool json = false;
};
/// How fast `muster check` searches, and what a state costs.
int bench_checker(const CheckerOptions& options);

struct DoorsOptions {
  Duration time = std::chrono::seconds(60);  ///< of each row
  std::vector<std::string> rows;             ///< their names; empty: all
  Quorum quorum = Quorum::off;
  ProtocolName protocol = ProtocolName::bully;
  Duration calm = std::chrono::seconds(1);
  std::optional<Duration> T;  ///< of all rows; none: each its own
  bool keep = false;          ///< configurations, logs and journals
  bool json = false;
};
/// What a fault at one of a node's doors, its links, disk, pipes, configuration or machine, costs
/// the other nodes' work.
int bench_doors(const DoorsOptions& options);

/// The value below which the share `part` of the values lies; 0 of none.
template <class Value>
Value quantile(std::vector<Value> values, double part) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part + 0.5)];
}

}  // namespace muster::apps
