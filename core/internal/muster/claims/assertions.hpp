#pragma once

#include <muster/claims/verdict.hpp>
#include <muster/protocol/step.hpp>

#include <optional>
#include <span>
#include <string>

/// The paper's assertions (section 5) and ours, over the nodes of one instant. The
/// same functions serve unit tests, `muster verify`, simulator and checker. hook_grammar.hpp has
/// the one that is about the order of things.

namespace MUSTER_EXPORT muster {

/// What the assertions read of one node.
struct Standing {
  NodeId node;
  /// False while it is down or paused: what it did before does not count then.
  bool up = false;
  Status status = Status::Down;
  std::optional<NodeId> coordinator;  ///< S(i).c, in Reorganization and Normal
  std::optional<GroupNumber> group;
  std::optional<Digest> definition;  ///< of S(i).d, in Normal
  /// The group that its application works for: from the beginning of `start` to the end of the next
  /// `stop`, or of that life.
  std::optional<GroupNumber> works_for;
  bool takes_part = true;  ///< false while too many others differ from it
};
MUSTER_DESCRIBE(Standing, node, up, status, coordinator, group, definition, works_for, takes_part);

/// A node that is up, with this view of its state.
Standing standing(NodeId node, const View& view, std::optional<GroupNumber> works_for);

using Standings = std::span<const Standing>;

/// Assertion 1a: two nodes in Reorganization or Normal have the same coordinator.
std::optional<Disagreement> assertion_1a(Standings nodes);

/// Assertion 1b: two nodes in Normal have the same definition of the task.
std::optional<Disagreement> assertion_1b(Standings nodes);

/// Assertion 2, of a state that has been left in peace for long enough: one node is Normal and its
/// own coordinator, and all others that are up are Normal with the same coordinator. Holds where
/// nobody is up. Where fewer than `quorum` are up: none of them is in Reorganization or Normal, or
/// works.
std::optional<Disagreement> assertion_2(Standings nodes, std::size_t quorum = 0);

/// Assertion 3a: two nodes in Reorganization or Normal, in one group, have the same coordinator.
std::optional<Disagreement> assertion_3a(Standings nodes);

/// Assertion 3b: two nodes in Normal, in one group, have the same definition of the task.
std::optional<Disagreement> assertion_3b(Standings nodes);

/// Assertion 4, of a state that has been left in peace for long enough: of `together`, nodes that
/// can all communicate with each other and with nobody else, one is Normal and its own coordinator,
/// and all others that are up are Normal with the same coordinator, in the same group. Holds where
/// none of them is up.
std::optional<Disagreement> assertion_4(Standings nodes, const NodeSet& together);

/// What a protocol claims, and in which worlds.
struct Claims {
  /// By their names in verdicts, in the order in which verdicts are given.
  std::vector<std::string> assertions;
  /// Several groups may be at work side by side: 3a, 3b and 4 are claimed, not 1a, 1b and 2; with
  /// or without assumptions 8 and 9.
  bool of_groups = false;
  /// What came of a call that was wrongly taken for unanswered does not last (6.12).
  bool heals = true;
  /// It takes so many nodes to be a group.
  std::size_t quorum = 0;
  /// Works-apart holds whatever the network does (docs/options/quorum.md).
  bool in_cuts = false;
};

/// What the protocol of that configuration claims.
Claims claims_of(const ProtocolConfig& config);
/// The assertions about times that it claims besides if no process is late, as in the simulator. On
/// a machine that is short of processors a node may react later than the bounds say.
std::vector<std::string> timed_claims_of(const ProtocolConfig& config);

/// How long it may take from the last disturbance to a state of Assertion 2, or 4 in the Invitation
/// algorithm: see assertions.cpp.
Duration settling_bound(const ProtocolConfig& config);

/// True in a state of Assertion 2 in which somebody is up and all have the same group number.
bool is_one_group(Standings nodes);

/// No two nodes work at once for different groups.
std::optional<Disagreement> works_apart(Standings nodes);

/// A reorganization has at least `quorum` members, its coordinator included.
std::optional<Disagreement> has_quorum(NodeId coordinator, std::size_t members, std::size_t quorum);

/// Whatever group a node comes into, it has accepted no greater number before, nor this one,
/// restarts included.
/// `accepted` counts when all Saves of its step are durable.
std::optional<Disagreement> group_grows(NodeId node, const std::optional<GroupNumber>& before,
                                        const GroupNumber& accepted);

/// What was durable is there when the next life begins: nothing in `recovered` is older than in
/// `saved`.
std::optional<Disagreement> durable(NodeId node, const SafeState& saved,
                                    const SafeState& recovered);

}  // namespace muster
