#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <functional>
#include <mutex>
#include <utility>

namespace muster::net {

/// Lets other threads post to a strand, even if the strand and its context can be destroyed while
/// those threads run. The threads hold only this object, and neither the strand nor the context.
class Way {
 public:
  explicit Way(boost::asio::any_io_executor strand) : strand_(std::move(strand)) {}

  /// Runs `work` on the strand later. After `close` the work is dropped.
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (strand_) boost::asio::post(strand_, std::move(work));
  }
  void close() {
    const std::lock_guard lock(mutex_);
    strand_ = boost::asio::any_io_executor();
  }

 private:
  std::mutex mutex_;  // guards strand_
  boost::asio::any_io_executor strand_;
};

}  // namespace muster::net
