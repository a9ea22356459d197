#pragma once

#include <muster/host/hook_runner.hpp>
#include <muster/permits.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace muster::net {

/// The permits of one life. The door and its permits may be used from any thread, and may outlive
/// this object. Everything else belongs to the protocol's strand.
class LifePermits {
 public:
  /// `longest_gap` is the longest time between two turns of the protocol's loop. After a longer gap
  /// nothing is permitted: the process may have been paused, and the other nodes may have
  /// reorganized without it (assumption 9). `executor` is the executor of the application. This
  /// executor has to be a strand, so that `wait` can detect that it is called there and refuse to
  /// block. An exception of a callback is given to `thrown`, on any thread.
  LifePermits(Duration longest_gap, boost::asio::any_io_executor executor,
              std::function<void(const std::string&)> thrown = {});
  LifePermits(const LifePermits&) = delete;
  LifePermits& operator=(const LifePermits&) = delete;
  ~LifePermits();

  [[nodiscard]] const Permits& door() const { return door_; }

  /// The loop has turned at `boottime`. If the node has a right to work, permits are valid until
  /// the end of that right.
  void turned(Duration boottime, std::optional<Moment> right = std::nullopt);

  /// Gives permits of this group from now on. All permits of the earlier group must have been
  /// returned.
  void grant(GroupNumber group);
  /// The number of groups that were granted, which is also the number of the last grant.
  [[nodiscard]] std::uint64_t grants() const;
  /// The hook `start` of that grant has been called, so code that waits for a permit can now get
  /// one. From any thread.
  void announce(std::uint64_t grant);

  struct Revoked {
    GroupNumber group;
    std::optional<std::stop_source> stop;  ///< set if a token was asked for: then request its stop
  };
  /// From now on no permit is given, and none is valid. Calls `returned` once when the last permit
  /// is back, at once or on any thread. Returns none, and does not call `returned`, if nothing was
  /// permitted.
  std::optional<Revoked> revoke(std::function<void()> returned);

  /// The number of the present grant; none if nothing is permitted.
  [[nodiscard]] std::optional<std::uint64_t> present_grant() const;

  /// True if a permit would be given now.
  [[nodiscard]] bool may_work() const;

  /// The permits that are out now.
  [[nodiscard]] PermitsOut out() const;

  /// The life is over. Wakes the threads that wait for a permit.
  void close();

 private:
  class State;
  std::shared_ptr<State> state_;
  Permits door_;
};

}  // namespace muster::net
