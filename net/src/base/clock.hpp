#pragma once

#include <muster/values/types.hpp>

#include <ctime>

namespace muster::net {

inline Duration read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// The journal's clock: the same for all processes of a host.
inline Duration monotonic_now() {
  return read_clock(CLOCK_MONOTONIC);
}

/// The clock that pauses are measured with: it goes on while the machine is suspended.
inline Duration boottime_now() {
  return read_clock(CLOCK_BOOTTIME);
}

}  // namespace muster::net
