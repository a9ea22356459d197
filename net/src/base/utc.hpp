#pragma once

#include <chrono>
#include <string>

namespace muster::net {

/// The moment as text: 2026-11-21T22:05:12.345Z.
std::string utc(std::chrono::system_clock::time_point moment);
/// The present time by the wall clock.
std::string utc_now();

}  // namespace muster::net
