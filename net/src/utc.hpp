#pragma once

#include <string>

namespace muster::net {

/// By the wall clock: 2026-11-21T22:05:12.345Z.
std::string utc_now();

}  // namespace muster::net
