#pragma once

#include <muster/detail/protocol/calm.hpp>

/// What leaves the paper, where it is asked for.

namespace MUSTER_EXPORT muster {

/// Whether a higher node that comes back takes over from a coordinator.
enum class Preempt {
  paper,  ///< at once
  never,  ///< it joins, and the coordinator stays
  after,  ///< it joins, and takes over when it has been a member for a while
};
MUSTER_DESCRIBE_ENUM(Preempt, paper, never, after)

/// How many nodes it takes to be a group.
enum class Quorum {
  off,       ///< any, one included
  majority,  ///< more than half of all that are configured, and only while they grant it
};
MUSTER_DESCRIBE_ENUM(Quorum, off, majority)

/// When a member starts.
enum class Resume {
  ready,  ///< as soon as it knows its task
  all,    ///< when all members know theirs
};
MUSTER_DESCRIBE_ENUM(Resume, ready, all)

/// What leaves the paper, of the Bully alone, and is off as it ships (docs/options.md).
struct Options {
  Preempt preempt = Preempt::paper;
  Duration preempt_after{};  ///< of Preempt::after, as a member of one group
  Quorum quorum = Quorum::off;
  Duration settle{};  ///< how long a node that was never assigned anything waits for others; 0: not
  Resume resume = Resume::ready;
  ClockDrift clock_drift = {};  ///< of Quorum::majority
  Duration calm{};  ///< of who makes its group reorganize again and again (Holds); 0: none
};
MUSTER_DESCRIBE(Options, preempt, preempt_after, quorum, settle, resume, clock_drift, calm);
/// Where none is on they stand in no text: it is the one that was written before there were any.
template <>
inline constexpr bool left_out_by_default<Options> = true;

}  // namespace muster
