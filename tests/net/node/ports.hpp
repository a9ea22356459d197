#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::test {

/// Ports of 127.0.0.1 at which no process listens, found by binding. While this object lives, no
/// other user of this class gets the same ports.
class Ports {
 public:
  explicit Ports(std::size_t count);
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;
  ~Ports();

  [[nodiscard]] std::uint16_t operator[](std::size_t at) const { return ports_.at(at); }

 private:
  std::vector<std::uint16_t> ports_;
  std::vector<int> locks_;
};

}  // namespace muster::test
