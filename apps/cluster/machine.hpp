#pragma once

#include <muster/values/types.hpp>

#include <atomic>
#include <thread>

namespace muster::apps {

/// Measures how long the machine keeps a process from running. A thread wants to run every two
/// milliseconds; the result is the longest delay.
class MachineGap {
 public:
  MachineGap();
  ~MachineGap();
  MachineGap(const MachineGap&) = delete;
  MachineGap& operator=(const MachineGap&) = delete;

  [[nodiscard]] Duration longest() const { return Duration(longest_.load()); }

 private:
  std::atomic<std::int64_t> longest_{0};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace muster::apps
