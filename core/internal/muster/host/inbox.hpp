#pragma once

#include <muster/protocol/step.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace MUSTER_EXPORT muster {

/// The events that wait for `step` at a host, in order, and what assumption 9 says of them: a node
/// that lets one wait for too long has failed, and is told so by `Paused` before anything else. The
/// times that are given are of one clock, which also runs while the machine sleeps.
class Inbox {
 public:
  /// Counts the armings and disarmings of a timer.
  using Arming = std::uint64_t;

  /// Nothing may wait for longer than this.
  explicit Inbox(Duration longest_wait) : longest_wait_(longest_wait) {}

  /// A life begins with this event, whatever has come before it; nothing has waited until now.
  void begin(const SafeState& safe, Duration now);
  void put(Event event, Duration now);

  [[nodiscard]] Arming arm(Timer timer) { return ++armings_[timer]; }
  void disarm(Timer timer) { ++armings_[timer]; }
  /// The expiry means nothing once its timer is armed anew or disarmed, though it waits already.
  void expire(Timer timer, Arming arming, Duration now);

  /// Nothing was given for so long, for the host itself stood still.
  void stood_still(Duration gap);
  /// True from a pause that was noticed until all that `Paused` leads to was performed: until then
  /// no work is permitted.
  [[nodiscard]] bool pauses() const { return pause_ || pausing_; }
  /// True when what waits has waited for too long: the next event is a `Paused`.
  [[nodiscard]] bool is_late(Duration now) const;

  /// The next event; none when nothing waits.
  std::optional<Event> next(Duration now);
  /// All actions of the last event were performed.
  void performed() { pausing_ = false; }

  /// True when a call of that number, by that node, waits here. `step` was not given it: an answer
  /// of that number is to a call of the caller's life before, and not to be sent to this one.
  [[nodiscard]] bool has_call(NodeId from, CallNumber call) const;

 private:
  struct Waiting {
    Event event;
    Duration since;
    Arming arming = 0;  ///< of an expiry
  };
  [[nodiscard]] bool is_void(const Waiting& waiting) const;

  Duration longest_wait_;
  std::deque<Waiting> waiting_;
  std::map<Timer, Arming> armings_;
  bool begun_ = false;
  Duration last_pause_{};
  std::optional<Duration> pause_;  ///< of which `step` is to be told
  bool pausing_ = false;           ///< what it led to is not all performed
};

}  // namespace muster
