#pragma once

#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/decide/values.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The status of a cluster's PostgreSQL, made from the nodes' answers by pure functions.

namespace muster::postgres {

// --- The answers

/// The answer of one node about itself.
struct NodeSaid {
  std::string unreachable;  ///< why the node does not answer; empty: it answers
  bool normal{};
  std::string is;  ///< "node 3 is in Election"
  std::optional<GroupNumber> group;
  /// Its role, while the node may work. A primary acknowledges commits, a replica follows the
  /// primary.
  bool primary{}, replica{};
  std::string doing;  ///< the present activity of its PostgreSQL, or why it has its role
};
MUSTER_DESCRIBE(NodeSaid, unreachable, normal, is, group, primary, replica, doing);

/// A standby as its primary sees it. An empty field means that the standby does not report it.
struct Standby {
  std::string name;  ///< the name that the standby gives itself, such as "n2" or "mend_n2"
  bool streams{};
  std::optional<std::uint64_t> behind;     ///< bytes of log that it has not flushed
  std::optional<std::uint64_t> to_replay;  ///< bytes of log that it has not replayed
};
MUSTER_DESCRIBE(Standby, name, streams, behind, to_replay);

/// A clone that is being made from the primary, in bytes.
struct Cloning {
  NodeId node;
  std::uint64_t done{};
  std::uint64_t of{};  ///< an estimate: the present size of the primary's data
};
MUSTER_DESCRIBE(Cloning, node, done, of);

/// The answer of the primary's PostgreSQL.
struct PrimarySaid {
  Term term;
  std::optional<Copies> copies;  ///< the list in force when the term began
  std::string since;             ///< when it was promoted, by its own clock: "2026-11-26T21:30:54Z"
  std::vector<Standby> standbys;
  std::vector<Cloning> clones;
  bool alone{};  ///< with a witness: the primary's commits wait for no copy
  std::vector<Impostor> impostors{};
  /// The standby names of a primary that does not have them from Muster's command line.
  std::optional<std::string> foreign_names{};
};
MUSTER_DESCRIBE(PrimarySaid, term, copies, since, standbys, clones, alone, impostors,
                foreign_names);

struct Heard {
  Copies copies;
  std::map<NodeId, NodeSaid> nodes;
  std::optional<PrimarySaid> primary;
  std::string primary_silent;  ///< why the primary's PostgreSQL did not answer
};

/// The node that reports to be primary. If several nodes do, the one with the highest group.
std::optional<NodeId> primary_of(const std::map<NodeId, NodeSaid>& nodes);

// --- The summary

struct StatusOfNode {
  NodeId node;
  std::string role;  ///< "primary", "replica", "witness", "none", "unreachable"
  std::optional<std::uint64_t> behind;
  std::optional<std::uint64_t> to_replay;
  std::optional<std::uint64_t> cloned, clone_of;
  std::string does;  ///< the activity of the node, or why it does not answer
};
MUSTER_DESCRIBE(StatusOfNode, node, role, behind, to_replay, cloned, clone_of, does);

struct ClusterStatus {
  std::optional<NodeId> primary;
  std::string since;  ///< empty: there is no primary, or it does not report the time
  std::optional<GroupNumber> group;
  std::optional<std::uint32_t> timeline;
  bool writable{};  ///< commits are acknowledged
  bool alone{};     ///< the primary acknowledges commits that no other node has (with a witness)
  std::optional<std::uint32_t> generation;  ///< of the primary's node list
  std::string counts_on;                    ///< the guarantee that clients have now
  std::string why;
  std::vector<std::string> warnings{};  ///< what breaks the guarantee now
  NodeSet not_following{};              ///< nodes of the list that do not copy the primary's writes
  std::vector<StatusOfNode> nodes;
};
MUSTER_DESCRIBE(ClusterStatus, primary, since, group, timeline, writable, alone, generation,
                counts_on, why, warnings, not_following, nodes);

ClusterStatus status_of(const Heard& heard);

/// Formats the status for people: lines, and a table of the nodes.
std::string in_words(const ClusterStatus& status);

}  // namespace muster::postgres
