#pragma once

#include <muster/values/types.hpp>

#include <sys/types.h>

#include <cstdint>

/// What processes, and the machine, are busy with, as the kernel counts it.

namespace muster::apps {

/// The machine's processors since its start, in clock ticks.
struct MachineTicks {
  std::uint64_t busy{};
  std::uint64_t all{};
  static MachineTicks read();
};

/// The share of the processors that was busy between two readings, in percent.
double busy_percent(const MachineTicks& from, const MachineTicks& to);

/// What all threads of a process have used so far.
struct ProcessUse {
  Duration cpu{};
  std::uint64_t wake_ups{};  ///< how often one of them was given a processor
  static ProcessUse read(pid_t process);
};

/// Its resident memory, in bytes.
std::uint64_t resident_bytes(pid_t process);

}  // namespace muster::apps
