#pragma once

#include <muster/protocol/timings.hpp>

#include <map>
#include <optional>
#include <vector>

/// What `quorum = "majority"` adds to letters, and how long its grants last
/// (docs/options/quorum.md). It is Gray and Cheriton's lease, laid on the questions that the paper
/// asks anyway: who holds one counts from sending, who grants one from answering, so that delays
/// never matter.

namespace MUSTER_EXPORT muster {

/// A point in time by a node's own clock, which also runs while its machine sleeps.
using Moment = Duration;

/// Until when the nodes of one group may work at the latest, as one node knows it: moments where it
/// keeps them, and where it tells them, how long that is from then on; what is over is negative.
struct Rights {
  std::optional<GroupNumber> group;  ///< none: whatever the node was in before, in another life too
  Duration coordinator{};
  Duration others{};      ///< every other node of it
  bool own_word = false;  ///< the coordinator itself says so: of the others, `members` alone
  std::map<NodeId, Duration> members = {};
};
MUSTER_DESCRIBE(Rights, group, coordinator, others, own_word, members);

/// What rides on a letter.
struct ByQuorum {
  std::optional<CallNumber> heard;  ///< the last call of the sender that the addressee has granted
  bool grants = false;              ///< who answers grants it to who called, for their group
  bool awaits = false;              ///< who answers awaits a majority
  std::vector<Rights> rights = {};  ///< with Joined: of all groups that it knows of
  /// With Here: who answers is idle, in no group, and halted by nobody but who asks, or itself.
  bool ceased = false;
};
MUSTER_DESCRIBE(ByQuorum, heard, grants, awaits, rights, ceased);
template <>
inline constexpr bool left_out_by_default<std::optional<ByQuorum>> = true;

/// Of a clock: by so much it may be fast or slow, in millionths.
struct ClockDrift {
  std::uint32_t millionths = 10'000;
  friend constexpr bool operator==(const ClockDrift&, const ClockDrift&) = default;
};
MUSTER_DESCRIBE(ClockDrift, millionths);
template <>
inline constexpr bool left_out_by_default<ClockDrift> = true;

/// How long who answers takes itself for bound: a period, a call, and the longer of both. A right
/// that is renewed each period outlasts one call that stays unanswered.
Duration granted_for(const Timings& timings);
/// How long who is answered may go by it: the same, by a clock that is slow beside one that is
/// fast.
Duration held_for(const Timings& timings, ClockDrift drift);
/// In what time who has lost its right has ceased, by any clock.
Duration ceases_within(const Timings& timings, ClockDrift drift);

}  // namespace muster
