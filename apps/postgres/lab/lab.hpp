#pragma once

#include "apps/postgres/decide/struck_lines.hpp"
#include "apps/postgres/decide/values.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// Keepers over a model of PostgreSQL and of Muster's reorganizations, and three ways to try them.
///
/// The claims:
/// - no acknowledged commit is missing from the log of a later open primary;
/// - no commit that was sent after the first acknowledgement of a newer group is acknowledged by an
///   older one;
/// - nobody follows a log, or is rewound to one, that does not continue its own;
/// - no dead end: when nothing fails any more, all nodes come to work in one group with an open
///   primary that they follow, and a commit is acknowledged.

namespace muster::postgres::lab {

using muster::operator==;

inline constexpr unsigned any_number = std::numeric_limits<unsigned>::max();

/// What goes wrong or is wanted, and how often in all.
struct Troubles {
  unsigned commits = any_number;
  unsigned elections = any_number;  ///< of any set of nodes that reach their coordinator
  unsigned node_kills = any_number;
  unsigned postgres_kills = any_number;
  unsigned machine_stops = any_number;  ///< what was not flushed is lost
  unsigned cuts = any_number;           ///< between two nodes, both ways
  unsigned failures = any_number;       ///< of orders
  unsigned overdue = any_number;        ///< a seal takes too long, or a shutdown in order
  unsigned leaves = any_number;         ///< of a node, in order, which comes back
  unsigned hand_overs = any_number;     ///< are asked of a primary, to any other node
  unsigned restores = 0;                ///< of a backup, where no other node has lost its data
  unsigned rejoins = 0;                 ///< are asked of any node
  unsigned early_ends = 0;  ///< of a PostgreSQL that begins, before it looks at its data
};
MUSTER_DESCRIBE(Troubles, commits, elections, node_kills, postgres_kills, machine_stops, cuts,
                failures, overdue, leaves, hand_overs, restores, rejoins, early_ends);
inline constexpr Troubles no_troubles{0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

struct Options {
  unsigned nodes = 3;
  unsigned copies_of_commit = 2;
  bool witness = false;  ///< the last node is one, of two with data
  /// The list that comes after that of nodes 1 to N, at each node by itself; nodes that it has
  /// besides have no data before. None: there is no other.
  std::optional<Copies> next;
  /// It comes at any time. Else whoever is in it no more ends first, and all others are whole then:
  /// what only one has that is in it no more is lost to it, and nobody writes.
  bool hasty = false;
  Struck struck;
  Troubles troubles;
  /// Of a search: what has to come of itself at one node comes in one order, and before what takes
  /// two; troubles come between any two of it as well.
  bool prompt = false;
};
MUSTER_DESCRIBE(Options, nodes, copies_of_commit, witness, next, hasty, struck, troubles, prompt);

/// What may happen.
enum class What : std::uint8_t {
  // In peace.
  performs,             ///< the next of what was ordered here
  takes_hangup,         ///< the postmaster
  walsender_hangup,     ///< a walsender
  checkpointer_hangup,  ///< who tells sessions whether commits wait
  promoted,
  flushes,
  connects,        ///< a standby to whom it follows
  receives,        ///< what its walsender has
  hears,           ///< a walsender what its standby has told
  walsender_ends,  ///< as its standby is gone
  receiver_ends,   ///< as its walsender is gone, or cannot be reached
  ends,            ///< what was killed, at last
  reorganizes,     ///< an election whose members have all reported
  starts,
  all_have_it,  ///< its group's definition, which that node is told
  comes_back,   ///< who has left: another life of its node, in another process (1) or in the same
  // What clients and nodes want.
  commits,
  elects,   ///< who is reached of those of a set
  lives,    ///< a node's process begins
  goes_on,  ///< and the next list is its configuration from now on
  heals,
  leaves,      ///< a node, in order
  hands_over,  ///< its primary, to another
  rejoins,     ///< its data is to be thrown away
  // What goes wrong.
  fails,       ///< what was ordered here
  ends_early,  ///< a PostgreSQL that begins, before it looks at its data
  overdue,
  node_killed,
  postgres_killed,
  machine_stops,
  restores,  ///< a backup of its data is put back
  cuts,
};
MUSTER_DESCRIBE_ENUM(What, performs, takes_hangup, walsender_hangup, checkpointer_hangup, promoted,
                     flushes, connects, receives, hears, walsender_ends, receiver_ends, ends,
                     reorganizes, starts, all_have_it, comes_back, commits, elects, lives, goes_on,
                     heals, leaves, hands_over, rejoins, fails, ends_early, overdue, node_killed,
                     postgres_killed, machine_stops, restores, cuts)

struct Move {
  What what{};
  NodeId node;
  /// A walsender, an election or a cut by its place; another node; a set of nodes as bits.
  std::uint32_t which{};
};
MUSTER_DESCRIBE(Move, what, node, which);

/// What was found, and how it came to that.
struct Finding {
  std::string violated;
  std::vector<Move> moves;         ///< from nodes that do not live yet
  std::vector<std::string> story;  ///< the same in words
};

/// What runs have come to.
struct Counts {
  std::uint64_t runs{};
  std::uint64_t moves{};
  std::uint64_t elections{};
  std::uint64_t acknowledged{};
  std::uint64_t promotions{};
  std::uint64_t rewinds{};
  std::uint64_t clones{};
  std::uint64_t leaves{};      ///< in order, to their end
  std::uint64_t hand_overs{};  ///< that came to whom they were meant for
  std::uint64_t restores{};
  std::uint64_t early_ends{};  ///< of a PostgreSQL that begins
  std::uint64_t alone{};       ///< definitions by which a primary goes on alone
  std::uint64_t next{};        ///< definitions by which the next list has its first primary
  Counts& operator+=(const Counts& other);
};
MUSTER_DESCRIBE(Counts, runs, moves, elections, acknowledged, promotions, rewinds, clones, leaves,
                hand_overs, restores, early_ends, alone, next);

struct Report {
  Counts counts;
  std::optional<Finding> finding;
  std::optional<std::uint64_t> seed;  ///< of the run that found it
};

/// A group begins, commits, loses its primary and gets another; the old one comes back, is handed
/// over to, and leaves: once as it is, and then once for each of its moves, each node and each way
/// to kill (the process, its PostgreSQL, its machine), with that kill after that move.
Report crash_everywhere(const Options& options);

/// So many moves at random, with all troubles, for each seed; then nothing fails any more.
Report run_seeds(const Options& options, std::uint64_t first, std::uint64_t count,
                 unsigned moves = 400);

struct SearchReport {
  std::uint64_t states{};
  std::uint64_t transitions{};
  unsigned depth{};
  bool ended = false;  ///< all was seen
  std::optional<Finding> finding;
};

/// Every world that can be reached within the bounds from a calm group, breadth first; each is
/// asked whether it would come to rest if nothing failed any more. Ends at so many states; 0: when
/// all was seen.
SearchReport search(const Options& options, std::uint64_t states);

}  // namespace muster::postgres::lab
