#pragma once

#include <muster/application.hpp>
#include <muster/detail/net/one_boost.hpp>
#include <muster/net/permits.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

/// An Application whose hooks are coroutines of Asio. It runs on real nodes and, where it awaits
/// nothing but what is made of Services, in the lab.

namespace MUSTER_EXPORT muster {
namespace net {

class CoroutineExecutor;
class CoroutineContext;

/// The hooks of one life, as coroutines; `make_application` makes an Application of them.
///
/// They run on the application's executor: each part from one co_await to the next is posted there
/// through `Services::post`, so that it runs one at a time with everything else of the application.
/// `boost::asio::this_coro::executor` is that executor; a coroutine that a hook spawns on it goes
/// on after the hook has ended, until the life is over. On a real node it may also await sockets
/// and timers, of any context: it comes back to this executor.
///
/// `co_await services().permits().acquire()` waits until there is a group to work for.
///
/// A coroutine that throws fails its hook, with its what(). When its hook is cancelled, what it
/// awaits is cancelled (boost::asio::cancellation_type::terminal), and it ends by the exception
/// `operation_aborted`, unless it catches that. At the end of a life the coroutines that are left
/// are destroyed where they are suspended, before this object is; one that awaits an operation of a
/// foreign context is destroyed with that operation, and must not use this object while it is.
///
/// g++ 12 miscompiles some expressions with co_await: give lambdas, aggregates and initializer
/// lists in them a name first (tests/lint/samples/coroutines.cpp). The functions below are safe
/// with what is written in place: `co_await write({"key", {"value"}})`,
/// `co_await ask(reorganization, member, {"how much?"})`.
class Coroutines {
 public:
  template <class T = void>
  using awaitable = boost::asio::awaitable<T>;
  using Cells = std::vector<std::pair<std::string, Bytes>>;

  explicit Coroutines(Services& services);
  Coroutines(const Coroutines&) = delete;
  Coroutines& operator=(const Coroutines&) = delete;
  virtual ~Coroutines();

  /// As the hooks of Application; what they return is what Done would be given.
  virtual awaitable<Report> stop(StopContext context) = 0;
  virtual awaitable<Definition> reorganize(Reorganization reorganization) = 0;
  virtual awaitable<> start(Assignment assignment) = 0;
  virtual awaitable<Bytes> answer(Question question);

 protected:
  [[nodiscard]] Services& services() const { return services_; }

  /// `Services::post_after`: ends after that delay, or when it is cancelled.
  awaitable<> wait_for(Duration delay);
  /// `AskingContext::ask`: the answer. Throws std::runtime_error, with the reason, where there is
  /// none.
  awaitable<Bytes> ask(const AskingContext& context, NodeId member, Bytes question);
  /// `Services::write`: ends when the cells are durable. Cannot be cancelled.
  awaitable<> write(CellBatch batch);
  /// `Services::scan`: the cells of that prefix. Cannot be cancelled.
  awaitable<Cells> scan(std::string prefix);

 private:
  friend class CoroutineApplication;
  Services& services_;
  std::shared_ptr<CoroutineContext> context_;
};

/// The application of one life whose hooks are these coroutines.
std::unique_ptr<Application> make_application(std::unique_ptr<Coroutines> coroutines);

}  // namespace net
}  // namespace muster
