#pragma once

#include "apps/muster/config/config.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::apps {

struct DemoOptions {
  unsigned nodes = 5;
  std::string dir;                 ///< empty: a temporary directory
  std::string script;              ///< the file of the script; empty: the default script
  std::optional<Duration> random;  ///< if set: plays random steps for that time instead
  std::uint64_t seed = 1;
  ProtocolName protocol = ProtocolName::bully;
  std::optional<Duration> T;  ///< none: the default of the demo
  unsigned records_per_second = 20;
  bool json = false;
};

/// Runs real nodes through a script and judges the run. Returns the exit code, which is 1 if any
/// promise or assertion did not hold.
int demo(const DemoOptions& options);

}  // namespace muster::apps
