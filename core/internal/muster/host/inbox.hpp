#pragma once

#include <muster/protocol/step.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace MUSTER_EXPORT muster {

/// The events that wait for `step` at a host, in order. By assumption 9, a node that lets an event
/// wait for too long has failed. Such a node gets `Paused` before any other event. All times are of
/// one clock, which also runs while the machine sleeps.
class Inbox {
 public:
  /// Counts how often a timer was armed or disarmed.
  using Arming = std::uint64_t;

  /// No event may wait for longer than `longest_wait`.
  explicit Inbox(Duration longest_wait) : longest_wait_(longest_wait) {}

  /// A life begins: this event comes ahead of all events that arrived before it. The waiting time
  /// of each event is measured from now on.
  void begin(const SafeState& safe, Duration now);
  void put(Event event, Duration now);

  [[nodiscard]] Arming arm(Timer timer) { return ++armings_[timer]; }
  void disarm(Timer timer) { ++armings_[timer]; }
  /// A timer has expired. The event is dropped if the timer is armed again or disarmed while the
  /// event waits.
  void expire(Timer timer, Arming arming, Duration now);

  /// The host itself was paused for this long, and gave no event in that time.
  void on_pause(Duration gap);
  /// True from the moment a pause was noticed until every action that `Paused` led to was
  /// performed. Until then no work is permitted.
  [[nodiscard]] bool pauses() const { return pause_ || pausing_; }
  /// True when the first event has waited for too long: the next event will be a `Paused`.
  [[nodiscard]] bool is_late(Duration now) const;

  /// The next event; none if no event waits.
  std::optional<Event> next(Duration now);
  /// Every action that the last event led to was performed.
  void performed() { pausing_ = false; }

  /// True when a call with this number, by this node, waits in the inbox. `step` does not know the
  /// waiting call yet. So if `step` answers a call with this number, the answer belongs to an
  /// earlier life of the caller, and the host must not send it.
  [[nodiscard]] bool has_call(NodeId from, CallNumber call) const;

 private:
  struct Waiting {
    Event event;
    Duration since;
    Arming arming = 0;  ///< for an expiry
  };
  [[nodiscard]] bool is_void(const Waiting& waiting) const;

  Duration longest_wait_;
  std::deque<Waiting> waiting_;
  std::map<Timer, Arming> armings_;
  bool begun_ = false;
  Duration last_pause_{};
  std::optional<Duration> pause_;  ///< that `step` must be told about
  bool pausing_ = false;           ///< actions of a `Paused` are not all performed yet
};

}  // namespace muster
