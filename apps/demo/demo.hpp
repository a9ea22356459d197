#pragma once

#include "apps/muster/config/config.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::apps {

struct DemoOptions {
  unsigned nodes = 5;
  std::string dir;                 ///< empty: a temporary one
  std::string script;              ///< a file; empty: the default script
  std::optional<Duration> random;  ///< plays random steps for that long instead
  std::uint64_t seed = 1;
  ProtocolName protocol = ProtocolName::bully;
  std::optional<Duration> T;  ///< none: that of a demo
  unsigned records_per_second = 20;
  bool json = false;
};

/// Runs real nodes through a script and judges what came of it. Returns the exit code: 1 where
/// anything did not hold.
int demo(const DemoOptions& options);

}  // namespace muster::apps
