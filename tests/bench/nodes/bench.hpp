#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/values/types.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Benches of nodes: real processes with real safe storage.

namespace muster::apps {

/// The program of that name in the directory of this program.
std::filesystem::path program_beside(const std::string& name);

struct FailoverOptions {
  std::size_t nodes = 5;
  std::size_t reps = 30;
  bool crash = true;
  bool silent = true;
  bool none = true;    ///< measures an application whose hooks return at once
  bool shards = true;  ///< measures the shards application, with 100 records a second on each node
  bool tls = false;    ///< measures each setting a second time, with certificates
  bool json = false;
};
/// Measures the time from a fault of the coordinator until the last survivor's application has
/// started.
int bench_failover(const FailoverOptions& options);

struct StabilityOptions {
  std::size_t nodes = 5;
  std::vector<Duration> T;  ///< the values of T to try; if empty, only the default
  Duration time = std::chrono::seconds(30);
  std::size_t rounds = 1;
  bool json = false;
};
/// Counts elections and pauses without any fault: first on an idle machine, then beside two busy
/// loops.
int bench_stability(const StabilityOptions& options);

struct SoakOptions {
  std::size_t nodes = 5;
  std::size_t faults = 1000;
  Duration time{};  ///< how long the bench makes faults; if zero, it stops after `faults` faults
  std::uint64_t seed = 1;
  ProtocolName protocol = ProtocolName::bully;
  Duration T = Timings{}.T;
  bool json = false;
};
/// Makes random faults: kill -9, restarts, pauses and broken connections. Then it checks the
/// journals and the records of the application.
int bench_soak(const SoakOptions& options);

struct CheckerOptions {
  std::uint64_t limit_states = 100'000'000;  ///< the limit of states for the search of each world
  bool json = false;
};
/// Measures the speed of the search of `muster check`, and the time and memory that each state
/// costs.
int bench_checker(const CheckerOptions& options);

struct FaultTestOptions {
  Duration time = std::chrono::seconds(60);  ///< how long each row takes
  std::vector<std::string> rows;             ///< the names of the rows to run; if empty, all
  Quorum quorum = Quorum::off;
  ProtocolName protocol = ProtocolName::bully;
  Duration calm = std::chrono::seconds(1);
  std::optional<Duration> T;  ///< the T of all rows; if empty, each row uses its own
  bool keep = false;          ///< does not delete configurations, logs and journals afterwards
  bool json = false;
};
/// Measures how much a fault on one node costs the work of the other nodes. The faults affect the
/// node's links, disk, pipes, configuration or machine.
int bench_fault_tests(const FaultTestOptions& options);

/// The quantile of `values`: about the share `part` of them (0 to 1) is smaller. 0 if there are no
/// values.
template <class Value>
Value quantile(std::vector<Value> values, double part) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part + 0.5)];
}

}  // namespace muster::apps
