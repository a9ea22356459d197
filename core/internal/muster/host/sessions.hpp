#pragma once

#include <muster/host/driving.hpp>
#include <muster/host/session_lines.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The sessions of one life of a node with the lives of the other nodes. The sessions deliver
/// letters in order, lose no letter between two lives, and prove that a life is over (assumptions 5
/// to 8).
///
/// Like the protocols, the sessions are a value and a function. The driver passes in its
/// observations and gets back its instructions. The sessions use no socket, clock or random number,
/// and no rule of theirs depends on the kind of a letter.

namespace MUSTER_EXPORT muster {
namespace host {

using muster::operator==;

/// The identity of this life.
struct Self {
  NodeId id;
  Incarnation incarnation;
  std::uint64_t instance{};  ///< random, drawn when the process begins the life; never 0
  std::string cluster;       ///< the canonical text of the cluster, `key=value` lines
  WireVersions wire{};       ///< that this life speaks
};
MUSTER_DESCRIBE(Self, id, incarnation, instance, cluster, wire);

/// A Hello that is safe to show to anybody. This Hello contains nothing about a session, and no
/// instance. With these a peer could continue a session that is not its own.
Hello hello_of(const Self& self, Role role, NodeId to);

/// The limits of the sessions, and of the connections that have no session yet.
struct SessionLimits {
  /// Connections that have not said Hello yet. A further connection closes the oldest one of the
  /// machine that has the most such connections. A connection from the machine of a cluster node is
  /// closed last.
  std::size_t unknown_peers = 64;
  std::size_t observers = 16;  ///< at least 1
  /// Connections that one machine may open within 100 ms. This is far more than a node dials even
  /// while its connections break continually, and few enough to answer without delaying other work.
  unsigned arrivals = 400;
  /// The value of `arrivals` if each connection begins with a TLS handshake, which costs about a
  /// third of a millisecond.
  static constexpr unsigned arrivals_with_proofs = 20;
  /// How many bytes of letters to one node may be unacknowledged. Further letters are dropped, as
  /// if the network had lost them.
  std::size_t queue_bytes = 4 * 1024 * 1024;
  std::size_t queue_letters = 4096;
  /// How long an accepted connection may take to say Hello, and how long a frame may stay
  /// incomplete. The driver enforces `frame_deadline`. Zero stands for 2 T in the first and for T
  /// in the second.
  Duration hello_deadline{};
  Duration frame_deadline{};
  /// True: if a machine says that no process listens on the port, the life there is over. False:
  /// such an answer is only silence, because a device between the machines may have sent it.
  bool proofs = true;
};
MUSTER_DESCRIBE(SessionLimits, unknown_peers, observers, arrivals, queue_bytes, queue_letters,
                hello_deadline, frame_deadline, proofs);

/// When this many bytes of letters have been written to a connection, the sessions write no more
/// until the driver reports that there is room again. The last frame before that pause may exceed
/// this number.
inline constexpr std::size_t enough_bytes = 128 * 1024;

/// The fixed facts about a life that its sessions need. Only the addresses may change later.
struct SessionConfig {
  Self self;
  std::map<NodeId, std::string> addresses;  ///< the addresses of all other nodes, in the form that
                                            ///< warnings show
  Duration T{};
  SessionLimits limits;
  StruckSessionLines struck{};
};
MUSTER_DESCRIBE(SessionConfig, self, addresses, T, limits, struck);

// --- State

/// A call that has no outcome yet.
struct Call {
  Letter letter;                    ///< kept, because a call to a node is sent to the node's next
                                    ///< life too
  std::size_t size{};               ///< of the letter, in bytes
  std::optional<Incarnation> life;  ///< the life that the call is for; none: any life of the node
  std::optional<Time> deadline;
  bool before_dial = false;  ///< the call was made before the last dial to its node began
  bool written = false;      ///< the call was written on a connection to the session's life
};
MUSTER_DESCRIBE(Call, letter, size, life, deadline, before_dial, written);

using Calls = std::map<CallNumber, Call>;

/// A letter that the peer has not acknowledged.
struct Queued {
  std::uint64_t number{};
  CallNumber call;               ///< of a call: its letter is stored in Call
  std::optional<Letter> answer;  ///< of an answer: the letter
  std::size_t size{};
};
MUSTER_DESCRIBE(Queued, number, call, answer, size);

/// The exchange of letters between this life and one life of another node. A session can use many
/// connections, one after the other.
struct Session {
  Incarnation life;
  std::uint64_t instance{};
  std::uint64_t peer_session{};  ///< the peer's count of its sessions with this life
  std::uint8_t wire{};           ///< the wire version in use

  std::vector<Queued> queue;  ///< the letters not acknowledged yet, in the order of their numbers
  std::size_t written{};  ///< how many letters of `queue` were written to the present connection
  std::size_t queued_bytes{};
  std::uint64_t last_number{};
  std::uint64_t highest_written{};  ///< on any connection

  std::uint64_t received{};  ///< the number of the last letter received
  std::uint64_t told{};      ///< the last such number that the peer was told
  std::size_t untold_bytes{};
  std::vector<CallNumber> owed;  ///< calls of the peer that are not answered yet
};
MUSTER_DESCRIBE(Session, life, instance, peer_session, wire, queue, written, queued_bytes,
                last_number, highest_written, received, told, untold_bytes, owed);

/// One state of the contact with a peer: there is no connection, and no dial is planned or running.
struct Apart {};
MUSTER_DESCRIBE(Apart);
/// The next dial is planned.
struct Waiting {
  Time until{};
};
MUSTER_DESCRIBE(Waiting, until);
/// A Dial is running.
struct Dialling {};
MUSTER_DESCRIBE(Dialling);
/// The connection that this node dialled is open and its Hello is sent, but the peer's Hello has
/// not yet begun a session.
struct Greeting {
  ConnectionId connection;
  Time until{};
  bool refusal_follows = false;  ///< the peer's Hello announced a Refusal
  bool has_crossed = false;      ///< the peer's Hello on another connection was refused as crossing
};
MUSTER_DESCRIBE(Greeting, connection, until, refusal_follows, has_crossed);
/// The connection carries the session.
struct Connected {
  ConnectionId connection;
  std::size_t written{};  ///< bytes since the last Writable
  bool full = false;      ///< waits for Writable
};
MUSTER_DESCRIBE(Connected, connection, written, full);

using Touch = std::variant<Apart, Waiting, Dialling, Greeting, Connected>;

/// Another node, as this node sees it.
struct Peer {
  Incarnation seen;            ///< the highest incarnation seen of this peer
  std::uint64_t instance{};    ///< the instance of the life `seen`; 0 if it is not known
  std::uint64_t last_hello{};  ///< the number of the last Hello accepted from the life `seen`

  std::optional<Session> session;
  std::uint64_t session_count = 1;  ///< the number of sessions with the life `seen`: Hello::session
  Incarnation over;                 ///< the last life that was found to be over
  bool heard = false;               ///< a letter has arrived since that life was over

  Touch touch;
  bool greet = false;      ///< dial once although there is nothing to send
  bool unwelcome = false;  ///< the last Hello was refused; calls do not hasten the next dial
  bool differs = false;    ///< the peer answered the last dial and cannot be talked to
  /// The peer refused this life when it was dialled. The peer has met a later life of this node, or
  /// another process of this life. The peer counts as differing until it accepts this life.
  bool refuses_this_life = false;
  unsigned quick_dials{};  ///< since a letter arrived
  unsigned slow_dials{};   ///< since a Hello arrived
  /// A connection claimed to come from this peer's next life. Anybody can claim that, so the peer's
  /// address is dialled to check it.
  bool doubted = false;
  std::optional<Time> looked_until;  ///< no second check starts before this time
};
MUSTER_DESCRIBE(Peer, seen, instance, last_hello, session, session_count, over, heard, touch, greet,
                unwelcome, differs, refuses_this_life, quick_dials, slow_dials, doubted,
                looked_until);

/// An accepted connection that has not said Hello yet, or that belongs to an observer.
struct UnknownPeer {
  ConnectionId connection;
  Time until{};
  std::string from{};          ///< Accepted::from
  bool beside_a_node = false;  ///< the connection comes from the machine of a configured node
  bool observer = false;
  bool asks = false;  ///< the peer's question is being answered
};
MUSTER_DESCRIBE(UnknownPeer, connection, until, from, beside_a_node, observer, asks);

/// The connections that one machine has opened since `since`.
struct Arrivals {
  Time since{};
  unsigned count{};
};
MUSTER_DESCRIBE(Arrivals, since, count);

/// A verdict that waits for Drained: bounds of calls have passed, so these calls are unanswered.
struct Overdue {
  Time at{};
};
MUSTER_DESCRIBE(Overdue, at);
/// A peer said Hello, perhaps in a new life. Letters of the old life that can still be read are
/// read first.
struct Greeted {
  ConnectionId connection;
  Hello hello;
};
MUSTER_DESCRIBE(Greeted, connection, hello);
/// A dial was refused. The last known life of the node is over, unless a newer life has already
/// sent its Hello.
struct NobodyListens {
  NodeId node;
};
MUSTER_DESCRIBE(NobodyListens, node);

using Verdict = std::variant<Overdue, Greeted, NobodyListens>;

/// The last warning on one topic.
struct Warned {
  std::string text;
  Time at{};
};
MUSTER_DESCRIBE(Warned, text, at);

/// Counts of events since the life began.
struct Counters {
  std::uint64_t accepted{};        ///< connections that other programs dialled
  std::uint64_t dialled{};         ///< connections that this node dialled
  std::uint64_t refused_hellos{};  ///< Hellos that began no session
  std::uint64_t garbage{};         ///< connections closed because of wrong or missing frames
  std::uint64_t crowded{};         ///< connections closed to make room
  std::uint64_t sessions{};        ///< sessions begun
  std::uint64_t broken{};          ///< connections that ended and that this node did not close
  std::uint64_t letters_in{};
  std::uint64_t letters_out{};
  std::uint64_t bytes_in{};    ///< counted by the driver
  std::uint64_t bytes_out{};   ///< counted by the driver
  std::uint64_t resent{};      ///< letters sent again on another connection
  std::uint64_t duplicates{};  ///< letters received a second time, and dropped
  std::uint64_t dropped{};     ///< letters for which a queue had no room
};
MUSTER_DESCRIBE(Counters, accepted, dialled, refused_hellos, garbage, crowded, sessions, broken,
                letters_in, letters_out, bytes_in, bytes_out, resent, duplicates, dropped);

/// The sessions of one life.
///
/// Only the side that accepts a connection decides whether the connection stays. That side decides
/// before any letter is sent. The dialler says Hello first, and the other side answers with its own
/// Hello or with a refusal. So both sides always agree on the decision.
///
/// Two nodes may dial each other at the same time. Then the connection that the higher id dialled
/// stays. The higher id refuses the other's Hello while its own Hello is out, and the lower id
/// gives up its own dial. The higher id refuses only once. If the lower id dials again, it has not
/// received the higher one's Hello: the process that received it may have ended without a trace.
///
/// Each Hello has a number, by which a new Hello differs from one that was delayed.
///
/// @par Thread safety
/// None: a life uses its sessions from one thread at a time.
struct Sessions {
  std::map<NodeId, Peer> peers;
  std::map<ConnectionId, NodeId> whose;  ///< the peers of connections
  Calls calls;
  std::vector<UnknownPeer> unknown_peers;    ///< and observers, the oldest first
  std::map<std::string, Arrivals> arrivals;  ///< by machine, of the last 100 ms
  std::vector<Verdict> verdicts;             ///< verdicts that wait for Drained; the last is next
  std::uint64_t hellos{};                    ///< the number of Hellos sent in this life
  std::optional<Time> wake;                  ///< the time of the Wake that was requested
  std::optional<Time> soonest;               ///< the earliest deadline set since then
  LifeClaims life_claims;
  /// The peers that differ, each with its difference: the differing keys with both values, if their
  /// text is known.
  std::map<NodeId, std::string> differing;
  OthersDiffer others;                   ///< the sets as they were last reported
  std::map<std::string, Warned> warned;  ///< by topic; there are few topics
  Counters counters;

  /// The sessions when a life begins. `safe` contains the lives of other nodes that this node has
  /// met.
  static Sessions begin(const SessionConfig& config, const SafeState& safe);

  /// Decides on a connection before it is accepted; `machine` is the address as in Accepted::from.
  /// Returns false if this machine has dialled too often: the driver then closes the connection
  /// unread and does not report it.
  bool admits(const SessionConfig& config, Time now, const std::string& machine);

  /// Handles `input` and appends the driver's instructions to `outputs`. `now` never decreases.
  void take(const SessionConfig& config, Time now, SessionInput input, SessionOutputs& outputs);

  /// Gives up all calls except those for which `awaited` returns true. Calls that were given up are
  /// not sent again, and neither an answer nor CallUnanswered is reported for them.
  void keep_only(const std::function<bool(CallNumber)>& awaited);

  /// The lives with which sessions exist.
  [[nodiscard]] std::map<NodeId, Incarnation> lives() const;
  /// The wire version of each session, by node.
  [[nodiscard]] std::map<NodeId, std::uint8_t> wire() const;
};
MUSTER_DESCRIBE(Sessions, peers, whose, calls, unknown_peers, arrivals, verdicts, hellos, wake,
                soonest, life_claims, differing, others, warned, counters);

}  // namespace host
}  // namespace muster
