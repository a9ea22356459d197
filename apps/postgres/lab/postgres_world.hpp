#pragma once

#include "apps/postgres/decide/keeper.hpp"
#include "apps/postgres/lab/lab.hpp"
#include "apps/postgres/lab/log.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Nodes with a PostgreSQL each, the elections among them, and what clients were told: a value.

namespace muster::postgres::lab {

// --- A PostgreSQL that runs
// ------------------------------------------------------------------------------------

/// Serves one connection of a standby. It has the names that the postmaster had when it was forked,
/// until it has taken its own SIGHUP.
struct Walsender {
  NodeId to;
  std::uint32_t connection{};
  bool mending{};  ///< its standby is called mend_nX
  Names names{};
  bool hangup = false;      ///< SIGHUP has come, and was not taken
  std::uint32_t told{};     ///< what the standby says that it has flushed, on its way or here
  std::uint32_t flushed{};  ///< of that, what was read
};
MUSTER_DESCRIBE(Walsender, to, connection, mending, names, hangup, told, flushed);

struct Receiver {
  NodeId from;
  std::uint32_t connection{};
};
MUSTER_DESCRIBE(Receiver, from, connection);

/// A session that has written its commit and waits for copies.
struct Session {
  std::uint32_t at{};           ///< where its record is
  GroupNumber newest_at_start;  ///< the newest group that had acknowledged anything when it sent it
};
MUSTER_DESCRIBE(Session, at, newest_at_start);

struct Postgres {
  bool primary = false;
  bool promoting = false;
  bool draining = false;         ///< it goes down in order: takes no connections any more
  bool orphan = false;           ///< its postmaster or its node was killed: what is left ends soon
  std::uint32_t generation = 1;  ///< of the list whose nodes its names are
  Conf conf;                     ///< as the postmaster has it
  bool hangup = false;
  bool waits = true;  ///< sessions are told that commits wait for copies
  bool checkpointer_hangup = false;
  std::uint32_t replayed{};
  std::vector<Walsender> walsenders;
  std::optional<Receiver> receiver;
  std::vector<Session> waiting;
};
MUSTER_DESCRIBE(Postgres, primary, promoting, draining, orphan, generation, conf, hangup, waits,
                checkpointer_hangup, replayed, walsenders, receiver, waiting);

// --- What outlives it
// ------------------------------------------------------------------------------------

struct Data {
  Log log;
  std::uint32_t flushed{};  ///< records that a loss of power leaves
  std::uint32_t newest{};   ///< the newest timeline of which there is a history file
  bool whole = true;        ///< false: something has begun to rewind it
  GroupNumber slots;        ///< those that were made with the row of that group
};
MUSTER_DESCRIBE(Data, log, flushed, newest, whole, slots);

// --- A node
// ------------------------------------------------------------------------------------

/// An order and how much of it was done.
struct Doing {
  Order order;
  std::uint8_t stage{};
};
MUSTER_DESCRIBE(Doing, order, stage);

/// Of the node's hooks.
enum class Activity { stopping, stopped, starting, working };
MUSTER_DESCRIBE_ENUM(Activity, stopping, stopped, starting, working)

/// The node's process.
struct PostgresLife {
  Keeper keeper;
  std::vector<Doing> doing;
  Activity activity{};
  Evidence report;
  NodeSet members;                    ///< with whom it was to start
  std::optional<GroupNumber> halted;  ///< by which election
  std::optional<Choice> to_start;     ///< as that one says
  bool wants_election = false;
  bool leaving = false;  ///< takes part in nothing any more
};
MUSTER_DESCRIBE(PostgresLife, keeper, doing, activity, report, members, halted, to_start,
                wants_election, leaving);

struct Node {
  bool witness = false;
  std::uint32_t generation = 1;  ///< of the list that is its configuration
  Data data;
  Conf conf;  ///< muster.conf
  std::optional<Note> note;
  std::optional<Held> at_least;    ///< was remembered apart from the data
  std::uint64_t counter{};         ///< of groups, in safe storage
  std::optional<Promise> promise;  ///< in safe storage, with the definition of the group below
  GroupNumber defined;
  std::uint32_t written{};  ///< records, ever
  std::optional<Postgres> postgres;
  std::optional<PostgresLife> life;
};
MUSTER_DESCRIBE(Node, witness, generation, data, conf, note, at_least, counter, promise, defined,
                written, postgres, life);

/// An election that has halted its members and has no definition yet.
struct Election {
  GroupNumber group;
  NodeSet members;
};
MUSTER_DESCRIBE(Election, group, members);

/// Two nodes that do not reach each other.
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

struct PostgresWorld {
  std::vector<Node> nodes;  ///< node i is at i - 1
  std::vector<Election> elections;
  std::vector<Cut> cuts;
  std::vector<Acknowledged> acknowledged;
  GroupNumber newest;  ///< that has acknowledged anything
  Troubles had = no_troubles;
  std::string violated;
};
MUSTER_DESCRIBE(PostgresWorld, nodes, elections, cuts, acknowledged, newest, had, violated);

// --- What may happen
// ------------------------------------------------------------------------------------

inline Node& node_at(PostgresWorld& world, NodeId node) {
  return world.nodes[node.value - 1];
}
inline const Node& node_at(const PostgresWorld& world, NodeId node) {
  return world.nodes[node.value - 1];
}
bool reach(const PostgresWorld& world, NodeId one, NodeId other);
/// And their configurations are the same.
bool can_talk(const PostgresWorld& world, NodeId one, NodeId other);
NodeSet all_nodes(const PostgresWorld& world);
NodeSet data_nodes(const PostgresWorld& world);
/// Of the list that the nodes come to work by: one that has begun with the next does not go back.
std::uint32_t last_generation(const PostgresWorld& world, const Options& options);
/// All that are in that list.
NodeSet configured_nodes(const PostgresWorld& world, const Options& options);
/// The list of that generation.
Copies copies_of(const Options& options, std::uint32_t generation);

/// All that may happen of itself.
std::vector<Move> in_peace(const PostgresWorld& world, const Options& options);
/// What may go wrong or be wanted, within the bounds.
std::vector<Move> in_trouble(const PostgresWorld& world, const Options& options);
/// Makes that move.
void make(PostgresWorld& world, const Options& options, const Move& move, Counts* counts = nullptr);

/// What that move is, in a world in which it was not made yet.
std::string in_words(const PostgresWorld& world, const Move& move);

/// N nodes that were cloned from one database; none lives.
PostgresWorld begun(const Options& options);

/// What so many records of the data are.
Holding holding_of(const Options& options, const Data& data, std::uint32_t records, bool primary);
/// Its data is less than what it held.
bool has_lost(const Options& options, const Node& node);
/// An open primary whose commits wait for copies.
bool is_writing(const PostgresWorld& world, NodeId node);
/// Every node that is configured works in one group with an open primary, which they all follow.
bool is_calm(const PostgresWorld& world, const Options& options);
/// An election of all of those, where the last has not come to that and none is going on.
std::optional<Move> wanted_election(const PostgresWorld& world, const Options& options);

// --- Parts of `make`, one file each
// ------------------------------------------------------------------------------------

struct Making {
  PostgresWorld& world;
  const Options& options;
  Counts* counts = nullptr;

  [[nodiscard]] Settings settings(NodeId node) const;
  void tell(NodeId node, HasHappened what, Round round = {}) const;
  void tell_witness(NodeId node, const HasHappened& what) const;
  void complain(std::string what) const;

  // postgres.cpp
  void promoted(NodeId node) const;
  void connects(NodeId node) const;
  void receives(NodeId node) const;
  void tell_flushed(NodeId node) const;
  void hears(NodeId node, std::uint32_t which) const;
  void takes_hangup(NodeId node) const;
  void walsender_takes_hangup(NodeId node, std::uint32_t which) const;
  void checkpointer_takes_hangup(NodeId node) const;
  void walsender_ends(NodeId node, std::uint32_t which) const;
  void append(NodeId node, Kind kind, GroupNumber group = {}) const;
  void is_opened(NodeId node) const;
  void acknowledge_all(NodeId node, std::uint32_t copied) const;
  void acknowledge(NodeId node, const Session& session) const;
  void relax(NodeId node) const;

  // muster.cpp
  void halts(NodeId coordinator, std::uint32_t set) const;
  void reorganizes(std::uint32_t which) const;
  void starts(NodeId node) const;
  void lives(NodeId node, bool by_next_list = false) const;
  void dies(NodeId node) const;
  void leaves(NodeId node) const;
  void comes_back(NodeId node, bool as_another_process) const;
  void postgres_killed(NodeId node) const;
  void machine_stops(NodeId node) const;
  void restores(NodeId node) const;

  // orders.cpp
  void performs(NodeId node) const;
  void fails(NodeId node, bool before_data) const;
};

/// The order that is first there can go on.
bool can_perform(const PostgresWorld& world, NodeId node, const Options& options);
/// That standby's walreceiver can connect to whom it follows.
bool can_connect(const PostgresWorld& world, NodeId node, const Options& options);
/// The walsender that serves that standby's walreceiver; none where it is gone.
const Walsender* served_by(const PostgresWorld& world, NodeId node);

}  // namespace muster::postgres::lab
