#pragma once

#include <muster/values/types.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace muster::net {

/// A timer for one piece of work at a time. Used on its strand. Cancelled or replaced work never
/// runs, even if its time had already come. No work runs after the alarm is destroyed.
class Alarm {
 public:
  explicit Alarm(const boost::asio::any_io_executor& strand) : timer_(strand) {}

  /// Runs `work` after `time`. Replaces earlier work.
  void after(Duration time, std::function<void()> work) {
    present_ = std::make_shared<char>();
    timer_.expires_after(time);
    timer_.async_wait([present = std::weak_ptr(present_), work = std::move(work)](auto error) {
      if (!error && !present.expired()) work();
    });
  }
  void cancel() {
    present_.reset();
    timer_.cancel();
  }

  /// The time until the work is due; negative if that moment has passed.
  [[nodiscard]] Duration left() const { return timer_.expiry() - std::chrono::steady_clock::now(); }

 private:
  boost::asio::steady_timer timer_;
  std::shared_ptr<char> present_;  ///< exists as long as the present work is wanted
};

}  // namespace muster::net
