#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace muster::test {

/// A bell. Other threads ring it after each event for which a test can wait.
class Bell {
 public:
  /// The longest time for which a test waits before it fails. No test depends on how long something
  /// takes.
  static constexpr std::chrono::seconds generous{60};

  void ring() {
    {
      const std::lock_guard lock(mutex_);
      ++rings_;
    }
    rung_.notify_all();
  }

  /// Waits until `predicate()` is true, and calls it after each ring. Returns false if it has not
  /// become true within `generous`.
  template <class Predicate>
  bool wait_until(Predicate predicate) {
    const auto deadline = std::chrono::steady_clock::now() + generous;
    std::unique_lock lock(mutex_);
    while (true) {
      const std::uint64_t heard = rings_;
      lock.unlock();
      if (predicate()) return true;
      lock.lock();
      if (!rung_.wait_until(lock, deadline, [&] { return rings_ != heard; })) return false;
    }
  }

 private:
  std::mutex mutex_;  // guards rings_
  std::condition_variable rung_;
  std::uint64_t rings_ = 0;
};

}  // namespace muster::test
