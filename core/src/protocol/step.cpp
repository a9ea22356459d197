#include <muster/protocol/step.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

namespace muster {

// Lengths that need a reason:
// - rejoin: all nodes that differ have learned of each other within T, and have ceased a
// stop_deadline later.
// - merge: a node that gives way leaves each coordinator above it the time of one Check and one
// call.
// - accepts: an Accept follows an Invitation, its forwarding and a stop, each with a call of its
// own.
Duration length_of(Timer timer, unsigned level, const Timings& timings) {
  switch (timer) {
    case Timer::check:
      return timings.check_every;
    case Timer::coordinator:
      return timings.coordinator_timeout;
    case Timer::retry:
      return timings.T * (std::int64_t{1} << level);
    case Timer::merge:
      return (timings.check_every + timings.T) * std::int64_t{level};
    case Timer::preempt:
    case Timer::settle:
    case Timer::right:
      return std::chrono::milliseconds(level);
    case Timer::rejoin:
      return length_of(Bound::stopped, timings);
    case Timer::accepts:
      break;
  }
  return 3 * timings.T + timings.stop_deadline;
}

Duration length_of(Bound bound, const Timings& timings) {
  switch (bound) {
    case Bound::answer:
      return timings.T;
    case Bound::stopped:
      return timings.T + timings.stop_deadline;
    case Bound::started:
      break;
  }
  return timings.T + timings.start_deadline;
}

}  // namespace muster

MUSTER_COMPILE(muster::Event);
MUSTER_COMPILE(muster::Action);
MUSTER_COMPILE(muster::Actions);
MUSTER_COMPILE(muster::View);
