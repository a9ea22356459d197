#pragma once

#include <muster/values/types.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace muster::net {

/// A timer for one piece of work at a time. Used on its strand. Work that was cancelled or replaced
/// is never done, even if its time had come already. No work is done after the alarm is destroyed.
class Alarm {
 public:
  explicit Alarm(const boost::asio::any_io_executor& strand) : timer_(strand) {}

  /// Does `work` after `time`, in place of what was to be done before.
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

  /// How long it is until its time; negative when that is past.
  [[nodiscard]] Duration left() const { return timer_.expiry() - std::chrono::steady_clock::now(); }

 private:
  boost::asio::steady_timer timer_;
  std::shared_ptr<char> present_;  ///< of the present work alone
};

}  // namespace muster::net
