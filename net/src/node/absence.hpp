#pragma once

#include "base/alarm.hpp"
#include "node/life.hpp"

#include <muster/detail/protocol/calm.hpp>
#include <muster/net/status.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace muster::net {

/// The time in which a node takes no part, though its process lives. The node is ordered out, its
/// life leaves, it is out, and it comes back. Used on the protocol's strand.
class Absence {
 public:
  struct Handlers {
    std::function<std::shared_ptr<Life>()> present;  ///< the present life; null: there is none
    std::function<void()> is_out;     ///< the node is out from now on, or the reason has changed
    std::function<void()> come_back;  ///< the time for which the node was out is over
  };
  Absence(const boost::asio::any_io_executor& strand, Handlers handlers)
      : handlers_(std::move(handlers)), back_(strand) {}

  /// Orders the node out. A node that is out already stays out for `back_after` from now. If the
  /// order is refused, returns the reason as a clause.
  std::optional<std::string> order(Out why, Duration back_after);
  /// Makes a drained node come back at once. If that is refused, returns the reason.
  std::optional<std::string> undo_drain();
  /// The reason for which the node was ordered out; none once it is back, or if it was not ordered
  /// out.
  [[nodiscard]] std::optional<Out> ordered() const;

  /// The life has left, as ordered or by itself: the node is out from now on.
  void begin();
  void begin(Out why, Duration back_after);
  /// The node comes back at once, or as soon as its life has left.
  void end();
  /// A life has begun.
  void is_over();
  /// The process ends: no order is taken any more, and the node does not come back.
  void close();
  [[nodiscard]] bool is_closed() const { return closed_; }

  /// How long the node stays out after hooks failed again and again: 1 s at first. The time doubles
  /// if the node has not been Normal since it was out the last time, up to 5 min.
  Duration back_off(bool was_normal);
  /// How long the node stays out after it lost its groups again and again (calm).
  Duration stay_away(Holds holds);

  /// The reason for which the node is out; none: it is not out. From any thread.
  [[nodiscard]] std::optional<Out> out() const;

 private:
  struct Order {
    Out why{};
    Duration back_after{};  ///< how long it stays out; unused if only its owner ends this
  };

  const Handlers handlers_;
  bool closed_ = false;
  std::optional<Order> order_;
  Alarm back_;
  unsigned backed_off_ = 0;   ///< how often the node backed off since it was Normal
  Unsteady unsteady_;         ///< how often the node stayed away within the hour
  mutable std::mutex mutex_;  // guards out_
  std::optional<Out> out_;
};

}  // namespace muster::net
