#pragma once

#include "../alarm.hpp"
#include "../life.hpp"

#include <muster/net/status.hpp>
#include <muster/protocol/calm.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace muster::net {

/// The time in which a node takes no part, though its process lives. It is ordered out, its life
/// leaves, it is out, and it comes back. Used on the protocol's strand.
class Absence {
 public:
  struct Handlers {
    std::function<std::shared_ptr<Life>()> present;  ///< the life that goes on, if one does
    std::function<void()> is_out;     ///< it is out now, or still, for another reason
    std::function<void()> come_back;  ///< its time is over
  };
  Absence(const boost::asio::any_io_executor& strand, Handlers handlers)
      : handlers_(std::move(handlers)), back_(strand) {}

  /// Orders it out; a node that is out stays so for `back_after` from now. Gives why that cannot
  /// be, as a clause; none: it is on its way.
  std::optional<std::string> order(Out why, Duration back_after);
  /// The same for a drained node that is to come back at once.
  std::optional<std::string> undo_drain();
  /// It has been ordered out, and is not back yet: why.
  [[nodiscard]] std::optional<Out> ordered() const;

  /// The life has left as it was ordered to, or by itself, for that reason: it is out from now on.
  void begin();
  void begin(Out why, Duration back_after);
  /// Has it come back at once, or as soon as its life has left.
  void end();
  /// A life has begun.
  void is_over();
  /// The process ends: nobody orders it out any more, and it does not come back.
  void close();
  [[nodiscard]] bool is_closed() const { return closed_; }

  /// How long it is to be out this time, as hooks failed again and again: 1 s, doubled each time
  /// that it was not Normal in between, at most 5 min.
  Duration back_off(bool was_normal);
  /// How long, as it has lost its groups again and again (calm).
  Duration stay_away(Holds holds);

  /// Why it is out; none: it is not. From any thread.
  [[nodiscard]] std::optional<Out> out() const;

 private:
  struct Order {
    Out why{};
    Duration back_after{};  ///< from when it is out; no matter where only its owner ends it
  };

  const Handlers handlers_;
  bool closed_ = false;
  std::optional<Order> order_;
  Alarm back_;
  unsigned backed_off_ = 0;   ///< how often, since it was last Normal
  Unsteady unsteady_;         ///< how often it stayed away within the hour
  mutable std::mutex mutex_;  // guards out_
  std::optional<Out> out_;
};

}  // namespace muster::net
