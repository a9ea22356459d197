#pragma once

#include "apps/postgres/decide/values.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What a cluster's PostgreSQL is now, by what was heard of it: a value and a function.

namespace muster::postgres {

// --- What was heard
// ------------------------------------------------------------------------------------

/// What a node says of itself.
struct NodeSaid {
  std::string unreachable;  ///< why it does not; empty: it does
  bool normal{};
  std::string is;  ///< "node 3 is in Election"
  std::optional<GroupNumber> group;
  bool primary{}, replica{};  ///< which it has while it may work: commits are acknowledged; follows
  std::string doing;          ///< what its PostgreSQL does, or why it is what it is
};
MUSTER_DESCRIBE(NodeSaid, unreachable, normal, is, group, primary, replica, doing);

/// A standby as its primary sees it. Bytes of the log that it lacks; none: it does not tell.
struct Standby {
  std::string name;  ///< what it calls itself, such as "n2" or "mend_n2"
  bool streams{};
  std::optional<std::uint64_t> behind;     ///< has not flushed
  std::optional<std::uint64_t> to_replay;  ///< has not replayed
};
MUSTER_DESCRIBE(Standby, name, streams, behind, to_replay);

/// A clone that is being made of the primary, in bytes.
struct Cloning {
  NodeId node;
  std::uint64_t done{};
  std::uint64_t of{};  ///< about: what the primary has now
};
MUSTER_DESCRIBE(Cloning, node, done, of);

/// What the PostgreSQL of the primary says.
struct PrimarySaid {
  Term term;
  std::optional<Copies> copies;  ///< by which that row was written
  std::string since;             ///< when it was promoted, by its clock: "2026-11-26T21:30:54Z"
  std::vector<Standby> standbys;
  std::vector<Cloning> clones;
  bool alone{};  ///< with a witness: its commits wait for nobody
};
MUSTER_DESCRIBE(PrimarySaid, term, copies, since, standbys, clones, alone);

struct Heard {
  Copies copies;
  std::map<NodeId, NodeSaid> nodes;
  std::optional<PrimarySaid> primary;
  std::string primary_silent;  ///< why nothing is known of it
};

/// Who says that it is the primary, of the highest group.
std::optional<NodeId> primary_of(const std::map<NodeId, NodeSaid>& nodes);

// --- What comes of it
// ------------------------------------------------------------------------------------

struct StatusOfNode {
  NodeId node;
  std::string role;  ///< "primary", "replica", "witness", "none", "unreachable"
  std::optional<std::uint64_t> behind;
  std::optional<std::uint64_t> to_replay;
  std::optional<std::uint64_t> cloned, clone_of;
  std::string does;  ///< or why it does not answer
};
MUSTER_DESCRIBE(StatusOfNode, node, role, behind, to_replay, cloned, clone_of, does);

struct ClusterStatus {
  std::optional<NodeId> primary;
  std::string since;  ///< empty: nobody is, or it does not tell
  std::optional<GroupNumber> group;
  std::optional<std::uint32_t> timeline;
  bool writable{};                          ///< commits are acknowledged
  bool alone{};                             ///< by a primary beside a witness, and are nowhere else
  std::optional<std::uint32_t> generation;  ///< of the list of nodes by which it writes
  std::string counts_on;                    ///< what a client can count on now
  std::string why;
  std::vector<StatusOfNode> nodes;
};
MUSTER_DESCRIBE(ClusterStatus, primary, since, group, timeline, writable, alone, generation,
                counts_on, why, nodes);

ClusterStatus status_of(const Heard& heard);

/// For people: lines, and a table of the nodes.
std::string in_words(const ClusterStatus& status);

}  // namespace muster::postgres
