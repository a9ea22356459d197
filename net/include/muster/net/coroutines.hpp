#pragma once

#include <muster/application.hpp>
#include <muster/detail/net/one_boost.hpp>
#include <muster/net/permits.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Hooks as coroutines of Asio. An application whose hooks are coroutines runs on real nodes. It
/// also runs in the lab if the coroutines await only operations of Services.

namespace MUSTER_EXPORT muster {
namespace net {

class CoroutineExecutor;
class CoroutineContext;

/// The hooks of one life as coroutines of Asio. Derive from this class and override the hooks.
/// `make_application` turns an object of it into an Application.
///
///     using namespace muster;
///     class Copies : public net::Coroutines {
///       using Coroutines::Coroutines;
///       awaitable<Report> stop(StopContext) override { co_return Report{}; }
///       awaitable<Definition> reorganize(Reorganization) override {
///         co_return Definition{{"v1"}};
///       }
///       awaitable<> start(Assignment) override {
///         const Permit permit = co_await services().permits().acquire();
///         co_await write({"state", {"started"}});
///       }
///     };
///
/// Threads: the coroutines run on the application's executor. Each part of a coroutine between two
/// co_awaits is posted to that executor through `Services::post`, so it never overlaps other work
/// of the application. `boost::asio::this_coro::executor` is that executor. On a real node a
/// coroutine can also await sockets and timers of any context. Even then it resumes on this
/// executor.
///
/// Lifetime: a coroutine that a hook spawns on the executor continues after the hook has ended,
/// until the life is over. At the end of a life the remaining coroutines are destroyed where they
/// are suspended, before this object is destroyed. A coroutine that awaits an operation of a
/// foreign context is destroyed together with that operation. While such a coroutine is destroyed,
/// it must not use this object.
///
/// Exceptions: an exception that leaves a hook fails the hook, with the text of what().
///
/// Cancellation: when a hook is cancelled, the operation that it awaits is cancelled
/// (boost::asio::cancellation_type::terminal). The hook then ends with the exception
/// `operation_aborted`, unless it catches that.
///
/// g++ 12 miscompiles some expressions that contain co_await. Give lambdas, aggregates and
/// initializer lists in such expressions a name first (tests/lint/samples/coroutines.cpp). The
/// functions below are safe with arguments that are written in place: `co_await write({"key",
/// {"value"}})`, `co_await ask(reorganization, member, {"how much?"})`.
class Coroutines {
 public:
  template <class T = void>
  using awaitable = boost::asio::awaitable<T>;
  using Cells = std::vector<std::pair<std::string, Bytes>>;

  explicit Coroutines(Services& services);
  Coroutines(const Coroutines&) = delete;
  Coroutines& operator=(const Coroutines&) = delete;
  virtual ~Coroutines();

  /// The hooks of Application. A hook returns the value that a hook of Application passes to its
  /// Done.
  virtual awaitable<Report> stop(StopContext context) = 0;
  virtual awaitable<Definition> reorganize(Reorganization reorganization) = 0;
  virtual awaitable<> start(Assignment assignment) = 0;
  virtual awaitable<Bytes> answer(Question question);

 protected:
  [[nodiscard]] Services& services() const { return services_; }

  /// Waits for `delay`, as `Services::post_after` does. Can be cancelled.
  awaitable<> wait_for(Duration delay);
  /// Asks a member and returns its answer (`AskingContext::ask`). Throws std::runtime_error, with
  /// the reason, if there is no answer.
  awaitable<Bytes> ask(const AskingContext& context, NodeId member, Bytes question);
  /// Writes the cells and returns when they are durable (`Services::write`). Cannot be cancelled.
  awaitable<> write(CellBatch batch);
  /// Reads the cells with that prefix (`Services::scan`). Cannot be cancelled.
  awaitable<Cells> scan(std::string prefix);

 private:
  friend class CoroutineApplication;
  Services& services_;
  std::shared_ptr<CoroutineContext> context_;
};

/// Makes the application of one life from its coroutines.
std::unique_ptr<Application> make_application(std::unique_ptr<Coroutines> coroutines);

}  // namespace net
}  // namespace muster
