#pragma once

#include "apps/base/process.hpp"

#include <muster/values/types.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>

/// Objects that wait without blocking a thread. Destroying such an object cancels its callback.

namespace muster::postgres {

using Executor = boost::asio::any_io_executor;

/// Waits for a time.
class Pause {
 public:
  explicit Pause(const Executor& executor) : timer_(executor) {}

  /// Calls `then` after the time. A second wait replaces the first.
  void wait(Duration time, std::function<void()> then);
  void stop();

 private:
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> wanted_;
};

/// Waits for the end of a process, which need not be a child.
class EndOfProcess {
 public:
  /// If there is no such process, the executor calls `then` at once.
  EndOfProcess(const Executor& executor, pid_t pid, std::function<void()> then);

 private:
  boost::asio::posix::stream_descriptor pidfd_;
  std::shared_ptr<bool> wanted_ = std::make_shared<bool>();
};

}  // namespace muster::postgres
