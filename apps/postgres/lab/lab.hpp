#pragma once

#include "apps/postgres/decide/struck_lines.hpp"
#include "apps/postgres/decide/values.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// Tests keepers on a model of PostgreSQL and of Muster's reorganizations, in three ways: a script
/// with a crash at each point, random runs, and a search of all reachable worlds.
///
/// The claims:
/// - No acknowledged commit is missing from the log of a later open primary.
/// - Once a newer group has acknowledged a commit, no older group acknowledges commits that clients
///   send afterwards.
/// - No node follows a log that does not continue its own, and no rewind ends with such a log.
/// - There is no dead end. If nothing fails any more, in the end all nodes work in one group with
///   an open primary that they follow, and a commit is acknowledged.

namespace muster::postgres::lab {

using muster::operator==;

inline constexpr unsigned any_number = std::numeric_limits<unsigned>::max();

/// The faults and requests of a run, with the largest number of each.
struct Troubles {
  unsigned commits = any_number;
  unsigned elections = any_number;  ///< elections of any nodes that can reach their coordinator
  unsigned node_kills = any_number;
  unsigned postgres_kills = any_number;
  unsigned machine_stops = any_number;  ///< the machine loses data that was not flushed
  unsigned cuts = any_number;           ///< a network between two nodes is cut, in both directions
  unsigned failures = any_number;       ///< failed orders
  unsigned overdue = any_number;        ///< a seal or an orderly shutdown takes too long
  unsigned leaves = any_number;         ///< a node leaves in order, and comes back
  /// Requests to a primary to hand over to any other node.
  unsigned hand_overs = any_number;
  unsigned restores = 0;    ///< a node's backup is restored, if no other node has lost its data
  unsigned rejoins = 0;     ///< requests to any node to replace its data by a clone
  unsigned early_ends = 0;  ///< a PostgreSQL ends while it starts, before it reads its data
  unsigned settings = 0;    ///< an administrator sets the standby names to none
  unsigned promotions = 0;  ///< an administrator promotes a standby by hand
  unsigned recycled = 0;    ///< a server removes log that it has flushed
  unsigned repeats = 0;     ///< a primary repeats its marker although no node waits for that
  unsigned forged = 0;      ///< a role of a primary writes a marker without the key
  unsigned replayed = 0;    ///< a role of a primary writes a valid marker of the same log again
  /// A role of a primary writes a valid marker of another node's log.
  unsigned replayed_elsewhere = 0;
  unsigned rewritten = 0;  ///< an administrator restores a dump of another table of terms
  unsigned refusals = 0;   ///< a standby admits no session from its next start on
};
MUSTER_DESCRIBE(Troubles, commits, elections, node_kills, postgres_kills, machine_stops, cuts,
                failures, overdue, leaves, hand_overs, restores, rejoins, early_ends, settings,
                promotions, recycled, repeats, forged, replayed, replayed_elsewhere, rewritten,
                refusals);
inline constexpr Troubles no_troubles{0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

struct Options {
  unsigned nodes = 3;
  unsigned copies_of_commit = 2;
  bool witness = false;  ///< the last node is a witness; the two others have data
  /// The next node list. The first list is nodes 1 to N. Each node changes to the next list by
  /// itself. Nodes that are only in the next list begin without data. None: the list never changes.
  std::optional<Copies> next;
  /// If true, each node can change to the next list at any time. If false, each node that is not in
  /// the next list ends first, while the data of all other nodes is complete. Without this rule,
  /// such a node could be the only one with some commit, and then no node would write any more.
  bool hasty = false;
  /// If true, the nodes begin with the version before, which writes and reads rows only. Each node
  /// changes to this version by itself, when its process starts.
  bool upgrade = false;
  Struck struck;
  Troubles troubles;
  /// Makes a search smaller: moves of one node that happen by themselves are tried in one order
  /// only, and before all moves of two nodes. Faults are still tried between any two moves.
  bool prompt = false;
};
MUSTER_DESCRIBE(Options, nodes, copies_of_commit, witness, next, hasty, upgrade, struck, troubles,
                prompt);

/// The moves of a world.
enum class What : std::uint8_t {
  // Without faults.
  performs,      ///< the next order that this node's keeper gave is performed
  takes_hangup,  ///< the postmaster takes its SIGHUP
  promoted,
  flushes,
  connects,        ///< a standby connects to the node that it follows
  receives,        ///< a standby receives the log of its walsender
  hears,           ///< a walsender reads its standby's status
  walsender_ends,  ///< a walsender ends, because its standby is gone
  receiver_ends,   ///< a walreceiver ends, because its walsender is gone or cut off
  ends,            ///< a killed PostgreSQL has ended
  reorganizes,     ///< an election finishes after all members have reported
  starts,
  all_have_it,  ///< a node is told that all members have its group's definition
  /// A node that left begins its next life: in another process if `which` is 1, in the same process
  /// if it is 0.
  comes_back,
  repeats,  ///< a primary writes its marker again
  // Requests of clients and nodes.
  commits,
  elects,    ///< an election of those nodes of a set that can be reached
  lives,     ///< a node's process starts
  goes_on,   ///< a node's process starts with the next list as its configuration
  upgrades,  ///< a node's process starts with this version
  heals,
  leaves,      ///< a node leaves in order
  hands_over,  ///< a primary hands over to another node
  rejoins,     ///< an operator asks to replace a node's data by a clone
  // Faults.
  fails,       ///< the order that this node's keeper gave fails
  ends_early,  ///< a PostgreSQL ends while it starts, before it reads its data
  overdue,
  node_killed,
  postgres_killed,
  machine_stops,
  restores,    ///< a backup replaces a node's data
  sets_names,  ///< an administrator's file sets the standby names to none
  promotes,    ///< an administrator promotes a standby by hand
  /// A server removes log that its standbys may still need: the log before its last marker if
  /// `which` is 0, all that it has flushed if it is 1.
  recycles,
  forges,  ///< a role of a primary writes a marker of a greater group
  /// A role of a primary writes a valid marker again. `which` names a node and a position in that
  /// node's log.
  replays,
  /// The table of a primary is rewritten. It has only its oldest row if `which` is 0. It has only a
  /// row of another cluster, with a greater group, if `which` is 1.
  rewrites_rows,
  /// From its next start on, this standby admits no session until it is promoted, as while a
  /// transaction of the primary has many subtransactions.
  refuses,
  cuts,
};
MUSTER_DESCRIBE_ENUM(What, performs, takes_hangup, promoted, flushes, connects, receives, hears,
                     walsender_ends, receiver_ends, ends, reorganizes, starts, all_have_it,
                     comes_back, repeats, commits, elects, lives, goes_on, upgrades, heals, leaves,
                     hands_over, rejoins, fails, ends_early, overdue, node_killed, postgres_killed,
                     machine_stops, restores, sets_names, promotes, recycles, forges, replays,
                     rewrites_rows, refuses, cuts)

struct Move {
  What what{};
  NodeId node;
  /// The index of a walsender, an election or a cut; another node; or a set of nodes as bits.
  std::uint32_t which{};
};
MUSTER_DESCRIBE(Move, what, node, which);

/// A violated claim, and the moves that led to it.
struct Finding {
  std::string violated;
  std::vector<Move> moves;         ///< the moves from a world in which no node lives yet
  std::vector<std::string> story;  ///< the moves in words
};

/// Statistics of runs.
struct Counts {
  std::uint64_t runs{};
  std::uint64_t moves{};
  std::uint64_t elections{};
  std::uint64_t acknowledged{};
  std::uint64_t promotions{};
  std::uint64_t rewinds{};
  std::uint64_t clones{};
  std::uint64_t leaves{};      ///< completed orderly leaves
  std::uint64_t hand_overs{};  ///< hand-overs after which the intended node became primary
  std::uint64_t restores{};
  std::uint64_t early_ends{};  ///< how often a PostgreSQL ended while it started
  std::uint64_t alone{};       ///< definitions by which a primary writes alone
  std::uint64_t next{};        ///< definitions by which the next list gets its first primary
  Counts& operator+=(const Counts& other);
};
MUSTER_DESCRIBE(Counts, runs, moves, elections, acknowledged, promotions, rewinds, clones, leaves,
                hand_overs, restores, early_ends, alone, next);

struct Report {
  Counts counts;
  std::optional<Finding> finding;
  std::optional<std::uint64_t> seed;  ///< the seed of the run that found the violation
};

/// Plays one script: a group begins, commits, loses its primary and gets another. The old primary
/// comes back, takes over again, and leaves. Then plays the script again with one kill after one
/// move, for each move, each node and each way to kill (the process, its PostgreSQL, its machine).
Report crash_everywhere(const Options& options);

/// Makes one run for each seed: that many random moves with all faults, and then fault-free moves
/// until the world is at rest.
Report run_seeds(const Options& options, std::uint64_t first, std::uint64_t count,
                 unsigned moves = 400);

struct SearchReport {
  std::uint64_t states{};
  std::uint64_t transitions{};
  unsigned depth{};
  bool ended = false;  ///< all reachable worlds were seen
  std::optional<Finding> finding;
};

/// Visits all worlds that can be reached from a calm group within the bounds, breadth first. For
/// one world of 16, checks that the world comes to rest if nothing fails any more. Stops after
/// `states` states. With 0, it stops only when it has visited all.
SearchReport search(const Options& options, std::uint64_t states);

}  // namespace muster::postgres::lab
