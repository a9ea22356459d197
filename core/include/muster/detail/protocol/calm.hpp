#pragma once

#include <muster/detail/protocol/grants.hpp>

#include <map>
#include <optional>

/// Calm: a node that is alive may still make its group reorganize again and again. Such a node is
/// kept out of the group for longer and longer times (docs/explanation/options/calm.md).

namespace MUSTER_EXPORT muster {

struct ProtocolConfig;

/// How long a coordinator remembers that a node made its group reorganize.
inline constexpr Duration calm_memory = std::chrono::hours(1);

/// The largest value of the setting `calm`.
inline constexpr Duration longest_calm = std::chrono::minutes(5);

/// For how long nodes are suspended: `shortest` at the first suspension, twice as long at each
/// further one, at most `longest`.
struct Holds {
  Duration shortest{};
  Duration longest{};
};

/// The suspension times of a configuration: from `calm` to sixty times `calm`.
///
/// With a quorum, a group that has a silent member must wait until the member's right is over, and
/// then for one stop_deadline more. The shortest suspension is then at least four times that wait,
/// but not more than the longest suspension. Otherwise an unsteady node would cost more than its
/// suspension saves.
Holds holds(const ProtocolConfig& config);

/// How long a node is suspended after it has made its group reorganize `times` times. After the
/// first time the node is not suspended.
Duration held_after(unsigned times, Holds holds);

/// The suspension of one node by its coordinator.
struct Hold {
  Moment until{};   ///< by the coordinator's clock
  Duration time{};  ///< the whole length of the suspension
};
MUSTER_DESCRIBE(Hold, until, time);

/// A node that has made its group reorganize within the last hour.
struct Unsteady {
  unsigned times = 0;  ///< counted up to eight
  Moment last{};       ///< when the node last made its group reorganize
  std::optional<Hold> held = {};
};
MUSTER_DESCRIBE(Unsteady, times, last, held);

/// Counts that `node` has made its group reorganize once more. The count starts again at one if the
/// last such event was more than an hour ago.
void count_once_more(Unsteady& node, Moment now);
/// Counts that a node has left its group by itself, because it is unsteady. Returns how long the
/// node stays away.
Duration stays_away(Unsteady& leaves, Moment now, Holds holds);

/// A group that this coordinator has lost, while the cause is not yet known. The answers that are
/// still to come will show the cause. At the next election point the coordinator knows which node
/// differs from the others, or that no node does.
struct Loss {
  NodeId by;                ///< the first member that was silent, said No or refused
  std::uint64_t counter{};  ///< the counter of the lost group
  bool joined = false;      ///< `by` had joined the group, so it knows the group's counter
  NodeSet members;          ///< the members of the lost group, except those proven dead
  std::map<CallNumber, NodeId> round;  ///< the calls to members that had no answer when the group
                                       ///< was lost
  NodeSet silent;          ///< members that left one of these calls, or their Halt, unanswered
  bool by_itself = false;  ///< the Halted answer of `by` shows that `by` has joined no other group
                           ///< since
  std::optional<unsigned> retry_level =
      {};  ///< the back-off level before the loss; only if a failed `start` of `by` is the cause
};
MUSTER_DESCRIBE(Loss, by, counter, joined, members, round, silent, by_itself, retry_level);

/// A coordinator's memory of unsteady nodes. A node that becomes coordinator starts with an empty
/// memory.
struct Calm {
  std::map<NodeId, Unsteady> unsteady;  ///< may contain the coordinator itself
  std::optional<Loss> loss;             ///< until the next election point
  NodeSet ceased;  ///< halted nodes that may be suspended and had already stopped their work
  // Older journals have these fields in the place of `loss`. A node reads these fields and ignores
  // them.
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

/// The nodes that a coordinator suspends.
struct HeldNodes {
  std::map<NodeId, Hold> by_node;
  friend bool operator==(const HeldNodes&, const HeldNodes&) = default;
};
MUSTER_DESCRIBE(HeldNodes, by_node);
template <>
inline constexpr bool left_out_by_default<HeldNodes> = true;

}  // namespace muster
