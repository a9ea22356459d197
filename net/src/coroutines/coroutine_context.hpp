#pragma once

#include <muster/net/coroutines.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace muster::net {

/// Runs the coroutines of one life and keeps everything that they wait for. When it closes, every
/// suspended coroutine is destroyed.
class CoroutineContext final : public boost::asio::execution_context,
                               public std::enable_shared_from_this<CoroutineContext> {
 public:
  using Cells = Coroutines::Cells;
  using Error = boost::system::error_code;
  using Continue = std::function<void(Error, Cells)>;

  explicit CoroutineContext(Services& services) : services_(&services) {}

  /// Runs `work` later on the application's executor. After `close` the work is dropped. From any
  /// thread.
  void post(std::function<void()> work);

  /// Keeps the continuation of a suspended coroutine, and returns its number.
  std::uint64_t await(Continue go_on);
  /// Resumes the coroutine with that number. Ignores a number that was resumed before.
  void arrived(std::uint64_t awaited, const Error& error, Cells cells);

  /// The life is over. Nothing runs any more, and suspended coroutines are destroyed.
  void close();

 private:
  void run_next();

  std::mutex mutex_;    // guards everything below
  Services* services_;  ///< null after `close`
  std::deque<std::function<void()>> ready_;
  std::map<std::uint64_t, Continue> awaited_;
  std::uint64_t last_ = 0;
};

/// The executor of the coroutines. It posts all work, and never runs any within `execute`.
class CoroutineExecutor {
 public:
  explicit CoroutineExecutor(std::shared_ptr<CoroutineContext> context)
      : context_(std::move(context)) {}

  template <class Work>
  void execute(Work work) const {
    // Work of coroutines can be moved but not copied.
    context_->post([kept = std::make_shared<Work>(std::move(work))] { std::move (*kept)(); });
  }

  boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
    return *context_;
  }
  static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  friend bool operator==(const CoroutineExecutor&, const CoroutineExecutor&) = default;

 private:
  std::shared_ptr<CoroutineContext> context_;
};

}  // namespace muster::net
