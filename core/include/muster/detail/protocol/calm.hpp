#pragma once

#include <muster/detail/protocol/grants.hpp>

#include <map>
#include <optional>

/// Calm: who makes its group reorganize again and again, though it lives, is let in later and later
/// (docs/options/calm.md).

namespace MUSTER_EXPORT muster {

struct ProtocolConfig;

/// For so long it is remembered that a node has made its group reorganize.
inline constexpr Duration calm_memory = std::chrono::hours(1);

/// The longest that `calm` may be.
inline constexpr Duration longest_calm = std::chrono::minutes(5);

/// How long nodes are held: the shortest time, doubled with each time more, up to the longest.
struct Holds {
  Duration shortest{};
  Duration longest{};
};

/// `calm`, up to sixty times that. With a quorum, where who falls silent costs the others its right
/// and its `stop_deadline`, the shortest is four times that cost, if that is more, up to the
/// longest.
Holds holds(const ProtocolConfig& config);

/// How long a node is held that has made its group reorganize so often: from the second time on.
Duration held_after(unsigned times, Holds holds);

/// For so long, until then by the clock of the coordinator.
struct Hold {
  Moment until{};
  Duration time{};
};
MUSTER_DESCRIBE(Hold, until, time);

/// A node that has made its group reorganize within the last hour.
struct Unsteady {
  unsigned times = 0;
  Moment last{};  ///< the last time
  std::optional<Hold> held = {};
};
MUSTER_DESCRIBE(Unsteady, times, last, held);

/// One time more: the first, where the last was more than an hour ago.
void count_once_more(Unsteady& node, Moment now);
/// It has left for it once more: how long it stays away.
Duration stays_away(Unsteady& leaves, Moment now, Holds holds);

/// A group that this coordinator has lost. At its next election point it is known which node
/// differs from the others, or that none does.
struct Loss {
  NodeId by;                           ///< the node that was silent first, said No or refused
  std::uint64_t counter{};             ///< of the group
  bool joined = false;                 ///< `by` had joined the group, and knows its counter
  NodeSet members;                     ///< of the group, without those proven dead
  std::map<CallNumber, NodeId> round;  ///< the other calls to members that were out
  NodeSet silent;          ///< members that did not answer one of those calls, or their Halt
  bool by_itself = false;  ///< `by` has told with its Halted that it has joined no group since
  std::optional<unsigned> retry_level = {};  ///< before, where the `start` of `by` failed
};
MUSTER_DESCRIBE(Loss, by, counter, joined, members, round, silent, by_itself, retry_level);

/// What a coordinator remembers of that.
struct Calm {
  std::map<NodeId, Unsteady> unsteady;  ///< itself among them
  std::optional<Loss> loss;             ///< until the next election point
  NodeSet ceased;  ///< halted nodes that may be held, and whose applications had ceased by then
  // Older journals have these in the place of `loss`; nothing uses them any more.
  NodeSet lost = {};
  std::optional<NodeId> blamed = {};
};
MUSTER_DESCRIBE(Calm, unsteady, loss, ceased, lost, blamed);
template <>
inline constexpr bool left_out_in<&Calm::loss> = true;
template <>
inline constexpr bool left_out_in<&Calm::lost> = true;
template <>
inline constexpr bool left_out_in<&Calm::blamed> = true;
template <>
inline constexpr bool left_out_by_default<Calm> = true;

/// Whom a coordinator holds.
struct HeldNodes {
  std::map<NodeId, Hold> by_node;
  friend bool operator==(const HeldNodes&, const HeldNodes&) = default;
};
MUSTER_DESCRIBE(HeldNodes, by_node);
template <>
inline constexpr bool left_out_by_default<HeldNodes> = true;

}  // namespace muster
