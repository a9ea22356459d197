#pragma once

#include "channel.hpp"

#include <muster/lab/session_checker.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Two nodes, the connections between them, and the channels that check their reports. A world is a
/// value.

namespace muster::lab::sessions {

/// The end of a connection, after everything that was sent on it.
struct Gone {};
MUSTER_DESCRIBE(Gone);
using Parcel = std::variant<host::Frame, Gone>;

/// One side of a connection.
struct Side {
  std::uint8_t node{};
  std::uint64_t instance{};   ///< the instance of the life to which the connection belongs
  host::ConnectionId number;  ///< 0: the sessions of that side do not know the connection yet
  bool open = true;
  std::vector<Parcel> coming;
};
MUSTER_DESCRIBE(Side, node, instance, number, open, coming);

/// A connection: the side that dialled, and the side that accepted.
struct Link {
  Side dialler;
  Side acceptor;
};
MUSTER_DESCRIBE(Link, dialler, acceptor);

enum class DialState { out, refused, connected };
MUSTER_DESCRIBE_ENUM(DialState, out, refused, connected)

/// A call that has arrived and is not answered yet.
struct Owed {
  Incarnation caller;
  std::uint64_t instance{};
  CallNumber call;
};
MUSTER_DESCRIBE(Owed, caller, instance, call);

/// One life of a node.
struct SessionLife {
  Incarnation incarnation;
  std::uint64_t instance{};
  bool restored = false;  ///< the life's store is an old copy, so an earlier life had its number
  host::Sessions sessions;
  std::uint64_t connections{};  ///< the number of connections so far
  std::optional<DialState> dial;
  std::uint64_t calls{};  ///< the number of calls made so far
  std::vector<Owed> owed;
  Channel channel;
};
MUSTER_DESCRIBE(SessionLife, incarnation, instance, restored, sessions, connections, dial, calls,
                owed, channel);

/// A node and its storage.
struct Node {
  std::uint64_t lives{};  ///< the highest number of a life
  std::optional<SessionLife> life;
  SafeState safe;    ///< contains only the lives of the other node that this node has met
  bool off = false;  ///< the node's machine has stopped, so no dial to it is answered
};
MUSTER_DESCRIBE(Node, lives, life, safe, off);

inline constexpr std::array all_troubles = {&SessionTroubles::lives, &SessionTroubles::resets,
                                            &SessionTroubles::silences, &SessionTroubles::restores,
                                            &SessionTroubles::replays};

/// The whole world.
struct SessionWorld {
  Node first;
  Node second;
  std::vector<Link> links;
  SessionTroubles had{0, 0, 0, 0, 0};  ///< the number of troubles so far, of the kinds that have a
                                       ///< limit

  // --- The last move
  /// True: a Drain reads everything on its way; false: nothing has arrived.
  bool drain_finds = true;
  bool drained = false;  ///< a Drain had something to read
  Complaint violated;
};
MUSTER_DESCRIBE(SessionWorld, first, second, links, had, drain_finds, drained, violated);

/// The kinds of move.
enum class MoveKind : std::uint8_t {
  begins,
  begins_from_old_store,
  fails,
  fails_and_loses,  ///< the node also loses its unread frames, and the state that it was about to
                    ///< save
  machine_stops,
  connection_reset,
  connection_noticed,  ///< one side notices that the other is gone although nothing has announced
                       ///< its end
  hello_comes_again,   ///< on a connection of its own
  dial_arrives,
  dial_is_silent,
  dial_is_told,
  reads,  ///< accepts first, if necessary
  calls_the_node,
  calls_the_life,
  answers,
  deadline,
};
MUSTER_DESCRIBE_ENUM(MoveKind, begins, begins_from_old_store, fails, fails_and_loses, machine_stops,
                     connection_reset, connection_noticed, hello_comes_again, dial_arrives,
                     dial_is_silent, dial_is_told, reads, calls_the_node, calls_the_life, answers,
                     deadline)

/// One move.
struct Move {
  MoveKind what{};
  std::uint8_t node{};    ///< the node that moves: 1 or 2
  std::uint16_t which{};  ///< the link, the owed call, the deadline, or the life of an old store
  bool drain_finds = true;
};

inline Node& node_at(SessionWorld& world, unsigned node) {
  return node == 1 ? world.first : world.second;
}
inline const Node& node_at(const SessionWorld& world, unsigned node) {
  return node == 1 ? world.first : world.second;
}
inline unsigned other(unsigned node) {
  return 3 - node;
}
inline NodeId id_of(unsigned node) {
  return NodeId{node};
}

/// A process: the life that it claims to be, and its number among those that claim to be it.
struct Instance {
  std::uint64_t life{};
  std::uint64_t copy{};
};
inline std::uint64_t instance_of(unsigned node, Instance of) {
  return of.life * 100 + node * 10 + of.copy;
}
inline Instance read_instance(std::uint64_t instance) {
  return {instance / 100, instance % 10};
}

/// A deadline passes when its move is made. In that move the deadline is now, and all other
/// deadlines are far away.
inline constexpr host::Time present = std::chrono::hours(1);
inline constexpr host::Time some_day = std::chrono::hours(1000);

/// A deadline, and its call if it has one. The deadlines are listed in this order: those of the
/// peer, of calls, of unknown peers.
struct Deadline {
  host::Time* at{};
  std::optional<CallNumber> call;
};
std::vector<Deadline> deadlines(host::Sessions& sessions);
std::size_t count_deadlines(const host::Sessions& sessions);

/// All moves that may happen. `failures`: nodes, machines and the network may fail.
std::vector<Move> moves(const SessionWorld& world, const SessionBounds& bounds, bool failures);

/// The next move if nothing fails: any move that needs no time, and otherwise a deadline.
/// `deadlines` is the number of deadlines so far; they come one after the other. Returns none if no
/// move is left.
std::optional<Move> next_in_peace(const SessionWorld& world, const SessionBounds& bounds,
                                  std::size_t deadlines);

/// The next moves if both nodes do everything at the same moment: one move for each node, chosen
/// before either has moved. The only deadlines that pass are those of redials. Empty: they are
/// over.
std::vector<Move> next_in_step(const SessionWorld& world, SessionBounds bounds);

/// True if both nodes work, are not connected with each other, and await no call.
bool is_apart(const SessionWorld& world);
/// True if the two nodes may have to connect again after that move.
bool is_trouble(MoveKind what);

SessionWorld made(SessionWorld world, const Move& move, const SessionBounds& bounds);

/// True if the connection has ended, after the items still on its way.
bool has_ended(const Side& side);

// --- Items that have arrived at an open connection of a node and have not been read

bool holds_letter(const Side& side);
bool has_answer_to_read(const SessionWorld& world, unsigned node, CallNumber call);
bool has_letter_to_read(const SessionWorld& world, unsigned node, std::uint64_t of);
/// The Hello of a life that has dialled and still waits.
bool has_hello_to_read(const SessionWorld& world, unsigned node, std::uint64_t of);

/// Gives the world its canonical form: numbers become ranks, and fields on which no decision
/// depends are cleared.
void make_canonical(SessionWorld& world, const SessionBounds& bounds);

/// The violation that no later move can repair, if there is one when only deadlines are left.
Complaint lost(const SessionWorld& world);

/// True if all calls have ended, nodes that are up are connected, and the end of each other node is
/// known.
bool settled(const SessionWorld& world);

}  // namespace muster::lab::sessions
