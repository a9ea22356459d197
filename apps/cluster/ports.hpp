#pragma once

#include <muster/values/failure.hpp>

#include "apps/base/process.hpp"

#include <cstdint>
#include <vector>

namespace muster::apps {

/// Reserves ports of 127.0.0.1 for nodes that come and go. Nobody listens at them. They are below
/// the ephemeral range, so the kernel never chooses them for a connection. No other ReservedPorts
/// gets them as long as this object exists.
class ReservedPorts {
 public:
  static Expected<ReservedPorts> take(std::size_t count);

  [[nodiscard]] const std::vector<std::uint16_t>& ports() const { return ports_; }

 private:
  std::vector<std::uint16_t> ports_;
  std::vector<Descriptor> locks_;
};

}  // namespace muster::apps
