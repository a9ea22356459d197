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

/// Two nodes, the connections between them, and what is known of what they were told: a value.

namespace muster::lab::sessions {

/// The end of a connection, after all that was sent on it.
struct Gone {};
MUSTER_DESCRIBE(Gone);
using Parcel = std::variant<host::Frame, Gone>;

/// One side of a connection.
struct Side {
  std::uint8_t node{};
  std::uint64_t instance{};   ///< of the life that has it
  host::ConnectionId number;  ///< 0: its sessions do not know it yet
  bool open = true;
  std::vector<Parcel> coming;
};
MUSTER_DESCRIBE(Side, node, instance, number, open, coming);

/// Who has dialled, and who was.
struct Link {
  Side dialler;
  Side acceptor;
};
MUSTER_DESCRIBE(Link, dialler, acceptor);

enum class DialState { out, refused, connected };
MUSTER_DESCRIBE_ENUM(DialState, out, refused, connected)

/// A call that came and was not answered yet.
struct Owed {
  Incarnation caller;
  std::uint64_t instance{};
  CallNumber call;
};
MUSTER_DESCRIBE(Owed, caller, instance, call);

struct SessionLife {
  Incarnation incarnation;
  std::uint64_t instance{};
  bool restored = false;  ///< its store is an old copy: this number was another life's
  host::Sessions sessions;
  std::uint64_t connections{};  ///< numbered so far
  std::optional<DialState> dial;
  std::uint64_t calls{};  ///< made so far
  std::vector<Owed> owed;
  Channel channel;
};
MUSTER_DESCRIBE(SessionLife, incarnation, instance, restored, sessions, connections, dial, calls,
                owed, channel);

struct Node {
  std::uint64_t lives{};  ///< the highest number of one
  std::optional<SessionLife> life;
  SafeState safe;    ///< of it, the life of the other that it has met
  bool off = false;  ///< its machine has stopped: nobody answers for it
};
MUSTER_DESCRIBE(Node, lives, life, safe, off);

inline constexpr std::array all_troubles = {&SessionTroubles::lives, &SessionTroubles::resets,
                                            &SessionTroubles::silences, &SessionTroubles::restores,
                                            &SessionTroubles::replays};

struct SessionWorld {
  Node first;
  Node second;
  std::vector<Link> links;
  SessionTroubles had{0, 0, 0, 0, 0};  ///< of those that are bounded

  // --- Of the last move
  bool drain_finds = true;  ///< a Drain reads what is on its way, or finds that nothing has come
  bool drained = false;     ///< there was something to find
  Complaint violated;
};
MUSTER_DESCRIBE(SessionWorld, first, second, links, had, drain_finds, drained, violated);

/// One thing that may happen.
enum class Happening : std::uint8_t {
  begins,
  begins_from_old_store,
  fails,
  fails_and_loses,  ///< what it has written and nobody has read yet, and what it would have saved
  machine_stops,
  connection_reset,
  connection_noticed,  ///< to have ended: the other side is gone without a word
  hello_comes_again,   ///< over a connection of its own
  dial_arrives,
  dial_is_silent,
  dial_is_told,
  reads,  ///< and accepts before, where it has not yet
  calls_the_node,
  calls_the_life,
  answers,
  deadline,
};
MUSTER_DESCRIBE_ENUM(Happening, begins, begins_from_old_store, fails, fails_and_loses,
                     machine_stops, connection_reset, connection_noticed, hello_comes_again,
                     dial_arrives, dial_is_silent, dial_is_told, reads, calls_the_node,
                     calls_the_life, answers, deadline)

struct Move {
  Happening what{};
  std::uint8_t node{};    ///< whose: 1 or 2
  std::uint16_t which{};  ///< link, owed call, deadline, or the life of an old store
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

/// A process: of which life it is, and which of those that say that they are it.
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

/// A deadline comes when it is chosen: it is now then, and all others are far away.
inline constexpr host::Time present = std::chrono::hours(1);
inline constexpr host::Time some_day = std::chrono::hours(1000);

/// Those of the peer, of calls and of strangers, in this order.
struct Deadline {
  host::Time* at{};
  std::optional<CallNumber> call;
};
std::vector<Deadline> deadlines(host::Sessions& sessions);
std::size_t count_deadlines(const host::Sessions& sessions);

/// All that may happen; nothing fails where failures are not allowed.
std::vector<Move> moves(const SessionWorld& world, const SessionBounds& bounds, bool failures);

/// What happens next where nothing fails: all that there is, and then a deadline, one after the
/// other, of which so many have come; none where there is nothing to come.
std::optional<Move> next_in_peace(const SessionWorld& world, const SessionBounds& bounds,
                                  std::size_t deadlines);

/// The same where both nodes do everything at the same moment: what either does next, by what it
/// sees before the other has done it. Nothing but redials is waited for; none: they are over.
std::vector<Move> next_in_step(const SessionWorld& world, SessionBounds bounds);

/// Both work and are not connected with each other, and neither awaits a call.
bool is_apart(const SessionWorld& world);
/// After it they may have to find each other.
bool is_trouble(Happening what);

SessionWorld made(SessionWorld world, const Move& move, const SessionBounds& bounds);

/// Nothing comes after what is on its way.
bool has_ended(const Side& side);

// --- What has come to a node, whole and on a connection that it has, and was not read

bool holds_letter(const Side& side);
bool has_answer_to_read(const SessionWorld& world, unsigned node, CallNumber call);
bool has_letter_to_read(const SessionWorld& world, unsigned node, std::uint64_t of);
/// Of a life that has dialled and still waits.
bool has_hello_to_read(const SessionWorld& world, unsigned node, std::uint64_t of);

/// The same world, with numbers by rank and without what decides nothing.
void make_canonical(SessionWorld& world, const SessionBounds& bounds);

/// What nobody will mend any more, where nothing but deadlines is to come.
Complaint lost(const SessionWorld& world);

/// All calls have ended, nodes that are up are connected, and the end of others is known.
bool settled(const SessionWorld& world);

}  // namespace muster::lab::sessions
