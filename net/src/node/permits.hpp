#pragma once

#include <muster/host/hook_runner.hpp>
#include <muster/permits.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace muster::net {

/// The permits of one life. The door, and what it gives, may be used from any thread, and may
/// outlive this; all else belongs to the protocol's strand.
class LifePermits {
 public:
  /// After `longest_gap` without a turn of the protocol's loop nothing is permitted: the process
  /// may have been paused, and others may have reorganized without it (assumption 9). `executor` is
  /// the application's; the test whether a thread may wait needs a strand.
  /// What a callback throws goes to `thrown`, from any thread.
  LifePermits(Duration longest_gap, boost::asio::any_io_executor executor,
              std::function<void(const std::string&)> thrown = {});
  LifePermits(const LifePermits&) = delete;
  LifePermits& operator=(const LifePermits&) = delete;
  ~LifePermits();

  [[nodiscard]] const Permits& door() const { return door_; }

  /// The loop has turned. Nothing is valid beyond the `right` of the node to work, if it has one.
  void turned(Duration boottime, std::optional<Moment> right = std::nullopt);

  /// From now on permits of this group are given. Those of the group before are all back.
  void grant(GroupNumber group);
  /// How many groups were granted, which is the number of the last.
  [[nodiscard]] std::uint64_t grants() const;
  /// The `start` of that group has been called: whoever waits for a permit may come after it. From
  /// any thread.
  void announce(std::uint64_t grant);

  struct Revoked {
    GroupNumber group;
    std::optional<std::stop_source> stop;  ///< to be requested, where somebody asked for its token
  };
  /// None is given, and none is valid, from now on. `returned` is called once, from any thread or
  /// at once, when the last is back. None where nothing was permitted: then it is not called.
  std::optional<Revoked> revoke(std::function<void()> returned);

  /// The number of the grant that stands; none where nothing is permitted.
  [[nodiscard]] std::optional<std::uint64_t> present_grant() const;

  /// True where one would be given.
  [[nodiscard]] bool may_work() const;

  /// Those that are out now.
  [[nodiscard]] PermitsOut out() const;

  /// The life is over: whoever waits for a permit is told so.
  void close();

 private:
  class State;
  std::shared_ptr<State> state_;
  Permits door_;
};

}  // namespace muster::net
