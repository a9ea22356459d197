#pragma once

#include "apps/base/process.hpp"

#include <muster/values/types.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>

/// Waiting without a thread that waits. Whoever drops one of these hears nothing of it any more.

namespace muster::postgres {

using Executor = boost::asio::any_io_executor;

/// For a time.
class Pause {
 public:
  explicit Pause(const Executor& executor) : timer_(executor) {}

  /// A second wait takes the place of the first.
  void wait(Duration time, std::function<void()> then);
  void stop();

 private:
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> wanted_;
};

/// For the end of a process, a child or not.
class EndOfProcess {
 public:
  /// `then` is called at once, by the executor, where there is no such process.
  EndOfProcess(const Executor& executor, pid_t pid, std::function<void()> then);

 private:
  boost::asio::posix::stream_descriptor pidfd_;
  std::shared_ptr<bool> wanted_ = std::make_shared<bool>();
};

}  // namespace muster::postgres
