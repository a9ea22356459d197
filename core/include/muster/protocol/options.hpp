#pragma once

#include <muster/detail/protocol/calm.hpp>

/// Departures from the paper that an owner may choose.

namespace MUSTER_EXPORT muster {

/// When a higher node that comes back takes over from a lower coordinator.
enum class Preempt {
  paper,  ///< at once
  never,  ///< the higher node joins, and the lower coordinator stays
  after,  ///< the higher node joins, and takes over when it has been a member for `preempt_after`
};
MUSTER_DESCRIBE_ENUM(Preempt, paper, never, after)

/// How many nodes form a group.
enum class Quorum {
  off,       ///< any number, one included
  majority,  ///< a group works only with more than half of the configured nodes, and only while a
             ///< majority grants it
};
MUSTER_DESCRIBE_ENUM(Quorum, off, majority)

/// When a member starts its task.
enum class Resume {
  ready,  ///< as soon as the member knows its own task
  all,    ///< a member starts when every member knows its task
};
MUSTER_DESCRIBE_ENUM(Resume, ready, all)

/// The options of the Bully algorithm (docs/explanation/options.md). A default-constructed Options
/// has every option off.
struct Options {
  Preempt preempt = Preempt::paper;
  Duration preempt_after{};  ///< for Preempt::after: how long a node is a member of one group
                             ///< before it takes over
  Quorum quorum = Quorum::off;
  Duration settle{};  ///< how long a node that never had an assignment waits for the others; 0: off
  Resume resume = Resume::ready;
  ClockDrift clock_drift = {};  ///< of Quorum::majority
  Duration calm{};  ///< first suspension of a node that makes its group reorganize (Holds); 0: off
};
MUSTER_DESCRIBE(Options, preempt, preempt_after, quorum, settle, resume, clock_drift, calm);
/// Without options, the cluster's text is the same as in versions that had no options.
template <>
inline constexpr bool left_out_by_default<Options> = true;

}  // namespace muster
