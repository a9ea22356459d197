#pragma once

#include <muster/values/types.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

/// Permits: the right to work for one group, which is gone the moment the node is halted.

namespace MUSTER_EXPORT muster {

/// The right to work for one group, held while the work is done. Halting revokes permits and waits
/// until all are returned. Movable; returned when destroyed, from any thread.
class Permit {
 public:
  /// The host's side of a permit.
  struct Grant {
    virtual ~Grant() = default;
    virtual bool valid() const = 0;
    virtual std::stop_token stop_token() const = 0;
    virtual void give_back() = 0;  ///< called last, from any thread
  };

  Permit() = default;  ///< holds nothing
  Permit(GroupNumber group, Grant& grant) : group_(group), grant_(&grant) {}

  /// The number to send along with every effect that leaves the node.
  [[nodiscard]] GroupNumber group() const { return group_; }

  /// False once the node was halted, began an election, or paused for too long.
  [[nodiscard]] bool valid() const { return grant_ && grant_->valid(); }

  /// Asks for the work to end, when the group's permits are revoked. What is registered with it is
  /// called on a thread of its own, in the lab on the application's executor.
  [[nodiscard]] std::stop_token stop_token() const {
    return grant_ ? grant_->stop_token() : std::stop_token();
  }

 private:
  struct GiveBack {
    void operator()(Grant* grant) const { grant->give_back(); }
  };
  GroupNumber group_;
  std::unique_ptr<Grant, GiveBack> grant_;
};

class Acquisition;

/// Where the permits of one life come from. May be copied, used from any thread, and kept beyond
/// the life: then it gives none.
class Permits {
 public:
  class Host;
  explicit Permits(std::shared_ptr<Host> host) : host_(std::move(host)) {}

  /// A permit of the present group, at once, from the beginning of `start` to the next Halt or own
  /// election; none outside. Every permit held delays the end of STOP: return it as soon as the
  /// work is done. `name` says whose it is, should it not come back in time.
  [[nodiscard]] std::optional<Permit> try_acquire(std::string_view name = {}) const;

  /// The same, which waits until there is a group; Acquisition says how.
  [[nodiscard]] Acquisition acquire(std::string_view name = {}) const;

 private:
  std::shared_ptr<Host> host_;
};

/// The host's side of permits. Every member may be called from any thread.
class Permits::Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  virtual std::optional<Permit> try_acquire(std::string_view name) = 0;

  /// Calls `told` once, at once or later, from any thread: with true when permits are given, with
  /// false when none will be any more, as the life is over. It may post, and nothing else. Gives
  /// the number by which to forget it.
  virtual std::uint64_t when_given(std::function<void(bool)> told) = 0;
  virtual void forget(std::uint64_t number) = 0;

  /// Runs `work` on the application's executor while the life lasts.
  virtual void post(std::function<void()> work) = 0;

  /// Blocks until there is a permit, or throws. Here: refuses to, as where all runs on one thread.
  virtual Permit wait(std::string_view name, const std::stop_token& cancelled);
};

/// A permit that is waited for, in one of three ways.
///
///     Permit permit = co_await services.permits().acquire("copy");  // in a coroutine of Asio
///     services.permits().acquire("copy").then([](Permit permit) { ... });
///     Permit permit = services.permits().acquire("copy").wait();  // on a thread of your own
///
/// The first needs <muster/net/permits.hpp>, which gives it any completion token of Asio's. It ends
/// by `operation_aborted` when it is cancelled, and when the life is over.
class [[nodiscard]] Acquisition {
 public:
  Acquisition(std::shared_ptr<Permits::Host> host, std::string_view name)
      : host_(std::move(host)), name_(name) {}

  /// Calls `given` on the application's executor, later, while the life lasts.
  void then(std::function<void(Permit)> given) const;

  /// Blocks. Throws boost::system::system_error (operation_canceled) when `cancelled` is requested
  /// or the life is over; std::logic_error on the application's executor and in the lab, where
  /// nobody could go on meanwhile.
  [[nodiscard]] Permit wait(const std::stop_token& cancelled = {}) const;

  /// An asynchronous operation as Asio knows it: begins, and completes as `token` says, with
  /// void(boost::system::error_code, Permit).
  template <class Token>
  auto operator()(Token&& token) const
      -> decltype(begin_acquiring(*this, std::forward<Token>(token))) {
    return begin_acquiring(*this, std::forward<Token>(token));
  }

  [[nodiscard]] const std::shared_ptr<Permits::Host>& host() const { return host_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::shared_ptr<Permits::Host> host_;
  std::string name_;
};

inline std::optional<Permit> Permits::try_acquire(std::string_view name) const {
  return host_->try_acquire(name);
}

inline Acquisition Permits::acquire(std::string_view name) const {
  return {host_, name};
}

}  // namespace muster
