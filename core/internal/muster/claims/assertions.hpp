#pragma once

#include <muster/claims/verdict.hpp>
#include <muster/protocol/step.hpp>

#include <optional>
#include <span>
#include <string>

/// The paper's assertions (Sections III and IV) and ours, over the nodes at one moment. Unit tests,
/// `muster verify`, the simulator and the checker use the same functions. hook_grammar.hpp has the
/// assertion about the order of events.
///
/// Each function returns the disagreement; none if the assertion holds.

namespace MUSTER_EXPORT muster {

/// The facts about one node that the assertions read.
struct Standing {
  NodeId node;
  /// `up` is false while the node is down or paused. If `up` is false, the other fields are
  /// ignored.
  bool up = false;
  Status status = Status::Down;
  std::optional<NodeId> coordinator;  ///< S(i).c, in Reorganization and Normal
  std::optional<GroupNumber> group;
  std::optional<Digest> definition;  ///< the digest of S(i).d, in Normal
  /// The group that its application works for, from the beginning of `start` to the end of the next
  /// `stop` or of that life.
  std::optional<GroupNumber> works_for;
  bool takes_part = true;  ///< false while nodes that differ outvote the node
};
MUSTER_DESCRIBE(Standing, node, up, status, coordinator, group, definition, works_for, takes_part);

/// A node that is up, with this view of its state.
Standing standing(NodeId node, const View& view, std::optional<GroupNumber> works_for);

using Standings = std::span<const Standing>;

/// Assertion 1a: any two nodes in Reorganization or Normal have the same coordinator.
std::optional<Disagreement> assertion_1a(Standings nodes);

/// Assertion 1b: any two nodes in Normal have the same definition of the task.
std::optional<Disagreement> assertion_1b(Standings nodes);

/// Assertion 2, for a state after a long enough time without disturbances. One node is Normal and
/// its own coordinator, and all other nodes that are up are Normal with the same coordinator. The
/// assertion holds if no node is up. If fewer than `quorum` nodes are up, the assertion demands
/// instead that none of them is in Reorganization or Normal, or works.
std::optional<Disagreement> assertion_2(Standings nodes, std::size_t quorum = 0);

/// Assertion 3a: any two nodes in Reorganization or Normal in the same group have the same
/// coordinator.
std::optional<Disagreement> assertion_3a(Standings nodes);

/// Assertion 3b: any two nodes in Normal in the same group have the same definition of the task.
std::optional<Disagreement> assertion_3b(Standings nodes);

/// Assertion 4, for a state after a long enough time without disturbances. The nodes `together` can
/// all communicate with each other and with no other node. One of them is Normal and its own
/// coordinator. All others of them that are up are Normal with the same coordinator, in the same
/// group. The assertion holds if none of the nodes `together` is up.
std::optional<Disagreement> assertion_4(Standings nodes, const NodeSet& together);

/// The assertions that a protocol claims, and the conditions.
struct Claims {
  /// The names of the assertions in verdicts, in the order of the verdicts.
  std::vector<std::string> assertions;
  /// Several groups may work side by side. Then 3a, 3b and 4 are claimed, and 1a, 1b and 2 are not.
  /// These claims need neither assumption 8 nor assumption 9.
  bool of_groups = false;
  /// True if the nodes recover by themselves after one of them has wrongly taken a call for
  /// unanswered.
  bool heals = true;
  /// The least number of nodes that form a group; 0 if any number does.
  std::size_t quorum = 0;
  /// True if the assertion works-apart holds whatever the network does
  /// (docs/explanation/options/quorum.md).
  bool in_cuts = false;
};

/// The claims of the protocol of this configuration.
Claims claims_of(const ProtocolConfig& config);
/// The further assertions, about times. The protocol claims them only if no process is late, as in
/// the simulator. A node on an overloaded machine may react later than these bounds.
std::vector<std::string> timed_claims_of(const ProtocolConfig& config);

/// The longest time from the last disturbance to a state that satisfies Assertion 2; in the
/// Invitation algorithm, Assertion 4. assertions.cpp derives it.
Duration settling_bound(const ProtocolConfig& config);

/// True if at least one node is up, Assertion 2 holds, and all nodes that are up have the same
/// group number.
bool is_one_group(Standings nodes);

/// No two nodes work for different groups at the same time.
std::optional<Disagreement> works_apart(Standings nodes);

/// A reorganization has at least `quorum` members, its coordinator included.
std::optional<Disagreement> has_quorum(NodeId coordinator, std::size_t members, std::size_t quorum);

/// A node accepts only a group number greater than every number that it has accepted before, in any
/// life. The number `accepted` counts as accepted once all Saves of its step are durable.
std::optional<Disagreement> group_grows(NodeId node, const std::optional<GroupNumber>& before,
                                        const GroupNumber& accepted);

/// All durable data is there when the next life begins: nothing in `recovered` is older than in
/// `saved`.
std::optional<Disagreement> durable(NodeId node, const SafeState& saved,
                                    const SafeState& recovered);

}  // namespace muster
