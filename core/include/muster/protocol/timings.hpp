#pragma once

#include <muster/values/types.hpp>

/// How long things may take.

namespace MUSTER_EXPORT muster {

/// The bounds and periods of a cluster; hosts turn named timers and bounds into them.
struct Timings {
  /// The paper's T: bound on a call; covers two delays, handling and one commit.
  Duration T = std::chrono::milliseconds(100);
  Duration stop_deadline = std::chrono::seconds(2);
  Duration start_deadline = std::chrono::seconds(2);
  Duration reorganize_deadline = std::chrono::seconds(10);
  /// The period of Check(i).
  Duration check_every = std::chrono::milliseconds(50);
  /// How long nothing is heard from the coordinator before Timeout(i).
  Duration coordinator_timeout = std::chrono::milliseconds(150);
};
MUSTER_DESCRIBE(Timings, T, stop_deadline, start_deadline, reorganize_deadline, check_every,
                coordinator_timeout);

/// When it has heard nothing for coordinator_timeout a member asks its coordinator, and when that
/// has not answered for T it is not Normal any more. Each of the two may be noticed by T/2 later:
/// what waits for longer counts as a pause, and ends Normal too.
inline Duration longest_silence(const Timings& timings) {
  return timings.coordinator_timeout + 2 * timings.T;
}

/// How long a member may be at work after its coordinator left their group, if the coordinator's
/// answers do not reach it (docs/decisions/left-behind.md).
inline Duration longest_left_behind(const Timings& timings) {
  return 2 * (timings.coordinator_timeout + timings.T) + timings.stop_deadline;
}

}  // namespace muster
