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

/// Permits: the right to work for one group. This right ends the moment the node is halted.

namespace MUSTER_EXPORT muster {

/// The right to work for one group, held while the work is done. A Halt revokes all permits of the
/// group. The node's stop is over only when each permit was returned.
///
/// @par Lifetime
/// The destructor returns the permit. A permit can be moved, not copied. A permit may outlive the
/// life of its node; the permit is then invalid.
/// @par Thread safety
/// `valid`, `group` and `stop_token` may be called from any thread. The destructor may run on any
/// thread.
/// @par Errors
/// A permit that is not returned within stop_deadline ends the process with exit code 76.
class Permit {
 public:
  /// The host's side of one permit. Every member may be called from any thread.
  struct Grant {
    virtual ~Grant() = default;
    virtual bool valid() const = 0;
    virtual std::stop_token stop_token() const = 0;
    virtual void give_back() = 0;  ///< called last, exactly once
  };

  Permit() = default;  ///< an empty permit: never valid
  Permit(GroupNumber group, Grant& grant) : group_(group), grant_(&grant) {}

  /// The number of the group that this permit is for. Send it along with every effect that leaves
  /// the node.
  [[nodiscard]] GroupNumber group() const { return group_; }

  /// True until the node is halted, begins an election, loses its right to work, or pauses for too
  /// long.
  [[nodiscard]] bool valid() const { return grant_ && grant_->valid(); }

  /// A stop is requested here when the group's permits are revoked. A callback that is registered
  /// with this token runs on a thread of its own; in the lab it runs on the application's executor.
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

/// The source of permits for one life.
///
/// @par Thread safety
/// May be used from any thread.
/// @par Lifetime
/// May be copied and kept beyond the life. After the life, the source gives no permits.
/// @par Example
/// @code
///     if (auto permit = services.permits().try_acquire("copy of shard 7"))
///       write(resource, permit->group(), record);
/// @endcode
class Permits {
 public:
  class Host;
  explicit Permits(std::shared_ptr<Host> host) : host_(std::move(host)) {}

  /// Returns a permit of the present group, or none, without waiting. Permits exist from the
  /// beginning of `start` until the next Halt or the node's own election. Each held permit delays
  /// the end of STOP, so return it as soon as the work is done. `name` identifies the permit in the
  /// error message if it is not returned in time.
  [[nodiscard]] std::optional<Permit> try_acquire(std::string_view name = {}) const;

  /// Waits until there is a permit; see Acquisition.
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

  /// Calls `told` exactly once, at once or later, from any thread. The argument is true when
  /// permits are given. The argument is false when the life is over, so that no permit will be
  /// given. `told` may post work and must do nothing else. Returns a number for `forget`.
  virtual std::uint64_t when_given(std::function<void(bool)> told) = 0;
  /// Drops a registration of `when_given`.
  virtual void forget(std::uint64_t number) = 0;

  /// Runs `work` on the application's executor, unless the life ends first.
  virtual void post(std::function<void()> work) = 0;

  /// Blocks until there is a permit; throws as Acquisition::wait does. The default throws
  /// std::logic_error: on a host with a single thread, a wait would never end.
  virtual Permit wait(std::string_view name, const std::stop_token& cancelled);
};

/// A request for a permit. The application waits for the permit in one of three ways:
///
///     Permit permit = co_await services.permits().acquire("copy");  // in a coroutine of Asio
///     services.permits().acquire("copy").then([](Permit permit) { ... });
///     Permit permit = services.permits().acquire("copy").wait();  // on a thread of your own
///
/// The first form needs <muster/net/permits.hpp>, which also accepts every other completion token
/// of Asio. The wait ends with `operation_aborted` when it is cancelled or when the life is over.
///
/// @par Lifetime
/// An Acquisition may outlive the life of the node, because it owns the data that it uses.
class [[nodiscard]] Acquisition {
 public:
  Acquisition(std::shared_ptr<Permits::Host> host, std::string_view name)
      : host_(std::move(host)), name_(name) {}

  /// Calls `given` later, on the application's executor. `given` is never called if the life ends
  /// first.
  void then(std::function<void(Permit)> given) const;

  /// Blocks until there is a permit. Throws boost::system::system_error (operation_canceled) when
  /// `cancelled` is requested or the life is over. Throws std::logic_error on the application's
  /// executor and in the lab, where a wait would never end.
  [[nodiscard]] Permit wait(const std::stop_token& cancelled = {}) const;

  /// The request as an asynchronous operation of Asio, with the signature
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
