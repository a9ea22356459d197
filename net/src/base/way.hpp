#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <functional>
#include <mutex>
#include <utility>

namespace muster::net {

/// A way to a strand for threads that may still use it when the strand, and the context that it is
/// of, are gone: they hold this, and nothing of those.
class Way {
 public:
  explicit Way(boost::asio::any_io_executor strand) : strand_(std::move(strand)) {}

  /// Has it done on the strand, later; nothing where the way is closed.
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
