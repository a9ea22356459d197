#pragma once

#include <muster/protocol/timings.hpp>

#include <map>
#include <optional>
#include <vector>

/// The additions of `quorum = "majority"` to letters, and how long its grants last
/// (docs/explanation/options/quorum.md).
///
/// A grant is a lease (Gray and Cheriton, 1989). The answers to questions that the paper asks
/// anyway carry it. The holder of a grant counts the length of the grant from the moment it sent
/// the question. The node that granted it counts the length from the moment it answered, which is
/// later. So the holder always stops first, however long a letter was on its way.

namespace MUSTER_EXPORT muster {

/// A point in time by a node's own clock, in ns. The clock also runs while the machine sleeps.
/// Clocks of different nodes are not comparable.
using Moment = Duration;

/// The latest time until which the nodes of one group may work, as far as one node knows. In a
/// node's state the times are moments of the node's clock. In a letter each time is the time that
/// is left when the letter is sent; it is negative if the moment has passed.
struct Rights {
  std::optional<GroupNumber> group;  ///< none: every older group, also those of an earlier life
  Duration coordinator{};            ///< until when the group's coordinator may work
  Duration others{};                 ///< until when every other node of the group may work
  bool own_word = false;  ///< the coordinator itself told these times; `members` replaces `others`
  std::map<NodeId, Duration> members = {};
};
MUSTER_DESCRIBE(Rights, group, coordinator, others, own_word, members);

/// The additional fields of a letter.
struct ByQuorum {
  std::optional<CallNumber>
      heard;  ///< of the receiver's granting answers, the last that the sender has received
  bool grants = false;  ///< this answer grants the caller the right to coordinate their group
  bool awaits = false;  ///< the answerer awaits a majority and is in no group
  std::vector<Rights> rights =
      {};  ///< with Joined: the rights of all groups that the answerer knows
  /// With Here: the answerer's application is idle, or its life has only begun. The answerer is in
  /// no group, and no third node has halted it. Only the caller's election, or its own, can make it
  /// work again.
  bool ceased = false;
};
MUSTER_DESCRIBE(ByQuorum, heard, grants, awaits, rights, ceased);
template <>
inline constexpr bool left_out_by_default<std::optional<ByQuorum>> = true;

/// The largest error of a clock's rate, fast or slow, in millionths.
struct ClockDrift {
  std::uint32_t millionths = 10'000;
  friend constexpr bool operator==(const ClockDrift&, const ClockDrift&) = default;
};
MUSTER_DESCRIBE(ClockDrift, millionths);
template <>
inline constexpr bool left_out_by_default<ClockDrift> = true;

/// How long a grant binds the member that gave it: one period of Check(i), plus T, plus the longer
/// of these two. The grant is renewed in each period, so it outlasts one call that stays
/// unanswered.
Duration granted_for(const Timings& timings);
/// How long the holder of a grant may rely on it: `granted_for`, shortened by the drift. So the
/// holder's time ends first, even if the holder's clock is slow and the member's clock is fast.
Duration held_for(const Timings& timings, ClockDrift drift);
/// The longest time, by any clock, in which a node stops its work after its right has ended:
/// stop_deadline, lengthened by the drift.
Duration ceases_within(const Timings& timings, ClockDrift drift);

}  // namespace muster
