#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace muster::test {

/// Rung whenever something has happened that a test may wait for.
class Bell {
 public:
  /// So long a test waits before it fails; no test passes or fails by how long a thing takes.
  static constexpr std::chrono::seconds generous{60};

  void ring() {
    {
      const std::lock_guard lock(mutex_);
      ++rings_;
    }
    rung_.notify_all();
  }

  /// Waits until `predicate()`, which is asked after each ring; false when it never came true.
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
