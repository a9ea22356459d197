#pragma once

#include <muster/values/types.hpp>

#include <sys/types.h>

#include <cstdint>

/// The load of processes and of the machine, as the kernel counts it.

namespace muster::apps {

/// Processor time of the machine since its start, in clock ticks.
struct MachineTicks {
  std::uint64_t busy{};
  std::uint64_t all{};
  static MachineTicks read();
};

/// The share of the processors that was busy between two readings, in percent.
double busy_percent(const MachineTicks& from, const MachineTicks& to);

/// How much all threads of a process have used the processors so far.
struct ProcessUse {
  Duration cpu{};
  std::uint64_t wake_ups{};  ///< how often a thread of the process was given a processor
  static ProcessUse read(pid_t process);
};

/// The resident memory of the process, in bytes.
std::uint64_t resident_bytes(pid_t process);

}  // namespace muster::apps
