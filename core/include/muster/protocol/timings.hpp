#pragma once

#include <muster/values/types.hpp>

/// The time limits and periods of a cluster.

namespace MUSTER_EXPORT muster {

/// The time limits and periods of a cluster, the same on every node. Hosts turn the named timers
/// and bounds of a protocol into them.
struct Timings {
  /// The paper's T: the bound on a call. T covers two message delays, the handling of the call and
  /// one commit.
  Duration T = std::chrono::milliseconds(100);
  /// How long a `stop` may take, permits included. If a `stop` takes longer, the process ends.
  Duration stop_deadline = std::chrono::seconds(2);
  /// How long a `start` may take before it is cancelled and counts as failed.
  Duration start_deadline = std::chrono::seconds(2);
  /// How long a `reorganize` may take before it is cancelled and counts as failed.
  Duration reorganize_deadline = std::chrono::seconds(10);
  /// The period of Check(i).
  Duration check_every = std::chrono::milliseconds(50);
  /// A member that gets no letter from its coordinator for this long calls Timeout(i).
  Duration coordinator_timeout = std::chrono::milliseconds(150);
};
MUSTER_DESCRIBE(Timings, T, stop_deadline, start_deadline, reorganize_deadline, check_every,
                coordinator_timeout);

/// How long a member may stay Normal without a letter from its coordinator. After
/// coordinator_timeout the member asks its coordinator, and after another T the member is no longer
/// Normal. A member can notice the end of each of these times up to T/2 late. A longer delay counts
/// as a pause, which also ends Normal.
inline Duration longest_silence(const Timings& timings) {
  return timings.coordinator_timeout + 2 * timings.T;
}

/// How long a member may work after its coordinator left their group, if the coordinator's answers
/// do not reach the member (docs/decisions/left-behind.md).
inline Duration longest_left_behind(const Timings& timings) {
  return 2 * (timings.coordinator_timeout + timings.T) + timings.stop_deadline;
}

}  // namespace muster
