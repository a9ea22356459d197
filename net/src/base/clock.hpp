#pragma once

#include <muster/values/types.hpp>

#include <ctime>

namespace muster::net {

inline Duration read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// The clock of journals. All processes of a machine read the same time on it.
inline Duration monotonic_now() {
  return read_clock(CLOCK_MONOTONIC);
}

/// The clock for pauses. This clock also counts the time for which the machine is suspended.
inline Duration boottime_now() {
  return read_clock(CLOCK_BOOTTIME);
}

}  // namespace muster::net
