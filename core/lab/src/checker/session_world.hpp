#pragma once

#include <muster/host/sessions.hpp>
#include <muster/lab/session_checker.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Two nodes, the connections between them, and what is known of what they were told: a value.

namespace muster::lab::sessions {

using muster::operator==;

/// The end of a connection, after all that was sent on it.
struct Gone {};
MUSTER_DESCRIBE(Gone);
using Parcel = std::variant<host::Frame, Gone>;

/// One side of a connection.
struct Side {
  std::uint8_t node{};
  Incarnation life;
  host::ConnectionId number;  ///< 0: its sessions do not know it yet
  bool open = true;
  std::vector<Parcel> coming;
};
MUSTER_DESCRIBE(Side, node, life, number, open, coming);

/// Who has dialled, and who was.
struct Link {
  Side dialler;
  Side acceptor;
};
MUSTER_DESCRIBE(Link, dialler, acceptor);

enum class DialState { out, refused, connected };
MUSTER_DESCRIBE_ENUM(DialState, out, refused, connected)

/// A call, as its caller's application sees it.
struct Awaited {
  std::optional<Incarnation> life;
};
MUSTER_DESCRIBE(Awaited, life);

/// A call that came and was not answered yet.
struct Owed {
  Incarnation caller;
  CallNumber call;
};
MUSTER_DESCRIBE(Owed, caller, call);

struct Life {
  Incarnation incarnation;
  host::Sessions sessions;
  std::uint64_t connections{};  ///< numbered so far
  std::optional<DialState> dial;
  unsigned calls_made{};
  std::uint64_t sent{};  ///< letters, calls and answers
  std::map<CallNumber, Awaited> awaited;
  std::vector<Owed> owed;
  std::map<Incarnation, std::uint64_t> received;  ///< of each life of the other: the last letter
  Incarnation over;                               ///< the last life that was told to be over
};
MUSTER_DESCRIBE(Life, incarnation, sessions, connections, dial, calls_made, sent, awaited, owed,
                received, over);

struct Node {
  unsigned lives{};  ///< so many have begun
  std::optional<Life> life;
  std::map<NodeId, Incarnation> seen;  ///< in safe storage
  bool off = false;                    ///< its machine has stopped: nobody answers for it
};
MUSTER_DESCRIBE(Node, lives, life, seen, off);

struct World {
  Node first;
  Node second;
  std::vector<Link> links;
  unsigned resets{};
  unsigned silences{};

  // --- Of the last move
  bool drain_finds = true;  ///< a Drain reads what is on its way, or finds that nothing has come
  bool drained = false;     ///< there was something to find
  std::string violated;
};
MUSTER_DESCRIBE(World, first, second, links, resets, silences, drain_finds, drained, violated);

/// One thing that may happen.
enum class Happening : std::uint8_t {
  begins,
  fails,
  fails_and_loses,  ///< what it has written and nobody has read yet
  machine_stops,
  connection_reset,
  connection_noticed,  ///< to have ended: the other side is gone without a word
  dial_arrives,
  dial_is_silent,
  dial_is_told,
  reads,  ///< and accepts before, where it has not yet
  calls_the_node,
  calls_the_life,
  answers,
  deadline,
};
MUSTER_DESCRIBE_ENUM(Happening, begins, fails, fails_and_loses, machine_stops, connection_reset,
                     connection_noticed, dial_arrives, dial_is_silent, dial_is_told, reads,
                     calls_the_node, calls_the_life, answers, deadline)

struct Move {
  Happening what{};
  std::uint8_t node{};    ///< whose: 1 or 2
  std::uint16_t which{};  ///< link, owed call, or deadline
  bool drain_finds = true;
};

inline Node& node_at(World& world, unsigned node) {
  return node == 1 ? world.first : world.second;
}
inline const Node& node_at(const World& world, unsigned node) {
  return node == 1 ? world.first : world.second;
}
inline unsigned other(unsigned node) {
  return 3 - node;
}
inline NodeId id_of(unsigned node) {
  return NodeId{node};
}
inline std::uint64_t instance_of(unsigned node, Incarnation life) {
  return 100 * node + life.value;
}

/// A deadline comes when it is chosen: it is now then, and all others are far away.
inline constexpr host::Time present = std::chrono::hours(1);
inline constexpr host::Time some_day = std::chrono::hours(1000);

/// Those of the peer, of calls and of strangers.
std::vector<host::Time*> deadlines(host::Sessions& sessions);

World first_world(const SessionBounds& bounds);

/// All that may happen; nothing fails where failures are not allowed.
std::vector<Move> moves(const World& world, const SessionBounds& bounds, bool failures);

/// What happens next where nothing fails: all that there is, and then a deadline, one after the
/// other; none where there is nothing to come.
std::optional<Move> next_in_peace(const World& world, const SessionBounds& bounds,
                                  std::size_t round);

World made(World world, const Move& move);

/// The same world, with numbers by rank and without what decides nothing.
World canonical(World world);

/// All calls have ended, and nodes that are up are connected.
bool settled(const World& world);

}  // namespace muster::lab::sessions
