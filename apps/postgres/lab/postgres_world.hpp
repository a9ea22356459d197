#pragma once

#include "apps/postgres/decide/keeper.hpp"
#include "apps/postgres/lab/lab.hpp"
#include "apps/postgres/lab/log.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A world as a value: nodes with a PostgreSQL each, the elections among them, and the answers to
/// clients.

namespace muster::postgres::lab {

// --- A running PostgreSQL

/// Serves one connection of a standby.
struct Walsender {
  NodeId to;
  std::uint32_t connection{};
  bool counts{};  ///< its standby calls itself nX
  /// The flushed position in the standby's last status message, which may still be on its way.
  std::uint32_t told{};
  std::uint32_t flushed{};  ///< the flushed position that the walsender has read
};
MUSTER_DESCRIBE(Walsender, to, connection, counts, told, flushed);

struct Receiver {
  NodeId from;
  std::uint32_t connection{};
};
MUSTER_DESCRIBE(Receiver, from, connection);

/// A session that has written its commit and waits for copies.
struct Session {
  std::uint32_t at{};  ///< the position of the commit's record
  /// The newest group that had an acknowledged commit when the client sent this commit.
  GroupNumber newest_at_start;
};
MUSTER_DESCRIBE(Session, at, newest_at_start);

struct Postgres {
  bool primary = false;
  bool promoting = false;
  bool draining = false;  ///< PostgreSQL shuts down in order and admits no connections
  bool orphan = false;    ///< its postmaster or node was killed; its other processes end soon
  std::uint32_t generation = 1;  ///< the node list from which its standby names were made
  Conf conf;                     ///< as the postmaster has it
  bool hangup = false;
  bool acknowledger = false;  ///< Muster's acknowledger is connected: it writes alone
  /// An administrator's file has set the standby names to none, and this changed the names.
  bool unnamed = false;
  std::uint32_t replayed{};
  std::vector<Walsender> walsenders;
  std::optional<Receiver> receiver;
  std::vector<Session> waiting;
};
MUSTER_DESCRIBE(Postgres, primary, promoting, draining, orphan, generation, conf, hangup,
                acknowledger, unnamed, replayed, walsenders, receiver, waiting);

// --- State that outlives it

struct Data {
  Log log;
  std::uint32_t flushed{};  ///< number of records that survive a loss of power
  std::uint32_t newest{};   ///< the newest timeline that has a history file here
  bool whole = true;        ///< false: a rewind of this data has begun and not ended
  /// The number of records that a standby has fetched of a file that it had whole, in an earlier
  /// timeline. PostgreSQL prefers that file when it starts.
  std::optional<std::uint32_t> fetched_again;
  bool was_primary = false;          ///< the server that ran here last was a primary
  std::uint32_t kept{};              ///< the number of the oldest records that were removed here
  std::optional<GroupNumber> slots;  ///< the group of the present slots; none: there is no slot
};
MUSTER_DESCRIBE(Data, log, flushed, newest, whole, fetched_again, was_primary, kept, slots);

// --- A node

/// An order, and how many of its stages were performed.
struct Doing {
  Order order;
  std::uint8_t stage{};
};
MUSTER_DESCRIBE(Doing, order, stage);

/// The state of the node's hooks.
enum class Activity { stopping, stopped, starting, working };
MUSTER_DESCRIBE_ENUM(Activity, stopping, stopped, starting, working)

/// The process of a node.
struct PostgresLife {
  Keeper keeper;
  std::vector<Doing> doing;
  Activity activity{};
  Evidence report;
  NodeSet members;                    ///< the members of the group in which this life is to start
  std::optional<GroupNumber> halted;  ///< the election that halted this node
  std::optional<Choice> to_start;     ///< the definition from that election
  bool wants_election = false;
  bool leaving = false;  ///< the node no longer takes part in elections
};
MUSTER_DESCRIBE(PostgresLife, keeper, doing, activity, report, members, halted, to_start,
                wants_election, leaving);

struct Node {
  bool witness = false;
  std::uint32_t generation = 1;  ///< the node list in the node's configuration
  Data data;
  Conf conf;  ///< muster.conf
  std::optional<Note> note;
  bool old = false;              ///< its program is of the version before, which knows rows only
  bool rows_ended = true;        ///< it knows that rows of the table do not count any more
  std::optional<Held> at_least;  ///< remembered apart from the data
  Term term;                     ///< of its log, when it looked there last
  std::uint64_t counter{};       ///< the group counter that is in safe storage
  /// The promise in safe storage, from the definition of the group `defined`.
  std::optional<Promise> promise;
  GroupNumber defined;
  std::uint32_t written{};  ///< number of records that this node ever wrote
  bool refuses = false;     ///< its PostgreSQL, if it starts as a standby, admits no session
  std::optional<Postgres> postgres;
  std::optional<PostgresLife> life;
};
MUSTER_DESCRIBE(Node, witness, generation, data, conf, note, old, rows_ended, at_least, term,
                counter, promise, defined, written, refuses, postgres, life);

/// An election that has halted its members and has no definition yet.
struct Election {
  GroupNumber group;
  NodeSet members;
};
MUSTER_DESCRIBE(Election, group, members);

/// Two nodes that cannot reach each other.
struct Cut {
  NodeId one;
  NodeId other;
};
MUSTER_DESCRIBE(Cut, one, other);

struct Acknowledged {
  std::uint32_t at{};
  Record record;
};
MUSTER_DESCRIBE(Acknowledged, at, record);

/// A term, and the group of the term before it in the same log.
struct Known {
  Term term;
  GroupNumber before;
  std::uint32_t generation = 1;  ///< the list under which the term began
};
MUSTER_DESCRIBE(Known, term, before, generation);

struct PostgresWorld {
  std::vector<Node> nodes;  ///< node i is at index i - 1
  /// The terms of all logs, as the nodes know them. The program keeps this beside the data, and a
  /// node learns it from the primary that it is to follow.
  std::vector<Known> terms;
  std::vector<Election> elections;
  std::vector<Cut> cuts;
  std::vector<Acknowledged> acknowledged;
  GroupNumber newest;  ///< the newest group that has acknowledged a commit
  Troubles had = no_troubles;
  std::string violated;
};
MUSTER_DESCRIBE(PostgresWorld, nodes, terms, elections, cuts, acknowledged, newest, had, violated);

/// PostgreSQL's system identifier of the cluster.
inline constexpr std::uint64_t the_system = 1;

// --- Possible moves

/// The `which` of a move that writes the marker at this position of that node's log again.
inline std::uint32_t replay_of(NodeId node, std::uint32_t at) {
  return node.value << 16 | at;
}

/// True if the set, given as bits, has this node.
inline bool is_in(NodeId node, std::uint32_t set) {
  return (set >> (node.value - 1) & 1) != 0;
}

inline Node& node_at(PostgresWorld& world, NodeId node) {
  return world.nodes[node.value - 1];
}
inline const Node& node_at(const PostgresWorld& world, NodeId node) {
  return world.nodes[node.value - 1];
}
bool reach(const PostgresWorld& world, NodeId one, NodeId other);
/// True if the two nodes reach each other and have the same node list.
bool can_talk(const PostgresWorld& world, NodeId one, NodeId other);
NodeSet all_nodes(const PostgresWorld& world);
NodeSet data_nodes(const PostgresWorld& world);
/// The node list under which the nodes work in the end. A node that has changed to the next list
/// does not go back.
std::uint32_t last_generation(const PostgresWorld& world, const Options& options);
/// All nodes in that list.
NodeSet configured_nodes(const PostgresWorld& world, const Options& options);
/// The list with that generation number.
Copies copies_of(const Options& options, std::uint32_t generation);

/// All moves that happen by themselves.
std::vector<Move> in_peace(const PostgresWorld& world, const Options& options);
/// The faults and requests that are possible within the bounds.
std::vector<Move> in_trouble(const PostgresWorld& world, const Options& options);
/// Makes that move.
void make(PostgresWorld& world, const Options& options, const Move& move, Counts* counts = nullptr);

/// Describes a move. `world` is the world before the move.
std::string in_words(const PostgresWorld& world, const Move& move);

/// A world of N nodes that were cloned from one database. No node lives yet.
PostgresWorld begun(const Options& options);

/// The contents of a node whose log has only the first `records` records, as the node reads them.
Seen look_at(const Options& options, const Node& node, std::uint32_t records, bool primary);
/// True if the node can see that its log has the marker of this group, or the row.
bool shows_group(const Options& options, const Node& node, GroupNumber group);
/// The term of which this primary repeats the marker. None: it repeats none now.
std::optional<Term> repeated_term(const PostgresWorld& world, NodeId node, const Options& options);
/// True if this primary can say that rows count no more: all nodes of its list read markers.
bool may_end_rows(const PostgresWorld& world, NodeId node, const Options& options);
/// True if the node has less data than it once had.
bool has_lost(const Options& options, const Node& node);
/// True for an open primary.
bool is_open(const PostgresWorld& world, NodeId node);
/// True for an open primary whose commits wait for copies.
bool is_writing(const PostgresWorld& world, NodeId node);
/// True if every configured node works in one group with an open primary, which all of them follow.
bool is_calm(const PostgresWorld& world, const Options& options);
/// An election of all configured nodes, if the world is not calm and no election is in progress.
std::optional<Move> wanted_election(const PostgresWorld& world, const Options& options);

// --- Parts of `make`, one file each

struct Making {
  PostgresWorld& world;
  const Options& options;
  Counts* counts = nullptr;

  [[nodiscard]] Settings settings(NodeId node) const;
  void tell(NodeId node, AnyEvent what, Round round = {}) const;
  void tell_witness(NodeId node, const AnyEvent& what) const;
  void complain(std::string what) const;

  // postgres.cpp
  void promoted(NodeId node) const;
  void connects(NodeId node) const;
  void receives(NodeId node) const;
  void tell_flushed(NodeId node) const;
  void hears(NodeId node, std::uint32_t which) const;
  void takes_hangup(NodeId node) const;
  void walsender_ends(NodeId node, std::uint32_t which) const;
  void append(NodeId node, Kind kind) const;
  void append(NodeId node, Record record) const;
  void append_row(NodeId node, Kind kind, const Term& term) const;
  void append_marker(NodeId node, const Term& term, std::uint32_t generation) const;
  void is_opened(NodeId node) const;
  void acknowledge_all(NodeId node, std::uint32_t copied) const;
  void acknowledge(NodeId node, const Session& session) const;
  void acknowledge_without_copies(NodeId node) const;

  // muster.cpp
  void halts(NodeId coordinator, std::uint32_t set) const;
  void reorganizes(std::uint32_t which) const;
  void starts(NodeId node) const;
  void lives(NodeId node, What how) const;
  void dies(NodeId node) const;
  void leaves(NodeId node) const;
  void comes_back(NodeId node, bool as_another_process) const;
  void postgres_killed(NodeId node) const;
  void machine_stops(NodeId node) const;
  void restores(NodeId node) const;

  // terms.cpp
  void records_term(NodeId node, const Listed& held) const;

  // orders.cpp
  void performs(NodeId node) const;
  void fails(NodeId node, bool before_data) const;
};

/// True if the node's first order can go on.
bool can_perform(const PostgresWorld& world, NodeId node, const Options& options);
/// True if the standby's walreceiver can connect to the node that it follows.
bool can_connect(const PostgresWorld& world, NodeId node, const Options& options);
/// The walsender that serves the walreceiver of the standby `node`. Null: there is no such
/// walsender any more.
const Walsender* served_by(const PostgresWorld& world, NodeId node);

}  // namespace muster::postgres::lab
