#pragma once

#include <muster/values/failure.hpp>

#include "apps/base/process.hpp"

#include <cstdint>
#include <vector>

namespace muster::apps {

/// Ports of 127.0.0.1 for nodes that come and go: nobody listens there, they lie below the range
/// from which the system takes ports for others, and no other holder of reserved ports gets them,
/// for as long as this lives.
class ReservedPorts {
 public:
  static Expected<ReservedPorts> take(std::size_t count);

  [[nodiscard]] const std::vector<std::uint16_t>& ports() const { return ports_; }

 private:
  std::vector<std::uint16_t> ports_;
  std::vector<Descriptor> locks_;
};

}  // namespace muster::apps
