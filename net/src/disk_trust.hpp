#pragma once

#include <muster/net/node.hpp>

#include <chrono>

namespace muster::net {

/// Whether who had better not wait may write to a disk: a thread that may wait has just seen it
/// answer in time.
class DiskTrust {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// In time is what takes no longer than the patience.
  explicit DiskTrust(Duration patience) : patience_(patience) {}

  /// Something was written, by the thread that may wait or not.
  void wrote(Time begun, Time ended, bool by_thread) {
    if (ended - begun > patience_)
      not_before_ = ended + after_a_slow_one;
    else if (by_thread)
      until_ = ended + long_enough * patience_;
  }
  /// Nothing could be written.
  void failed() { until_ = {}; }

  /// True for 8 patiences after the thread wrote something in time, and not within a minute of
  /// anything that was slow.
  [[nodiscard]] bool allows(Time now) const { return not_before_ <= now && now < until_; }

 private:
  static constexpr int long_enough = 8;
  static constexpr std::chrono::minutes after_a_slow_one{1};

  const Duration patience_;
  Time not_before_{};
  Time until_{};
};

}  // namespace muster::net
