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

/// The sessions of one life of a node with the lives of the others: letters in order, nothing lost
/// between two lives, and the proof that a life is over (assumptions 5 to 8). They are a value and
/// a function, as the protocols are: what a driver can see goes in, what it is to do comes out.
/// There is no socket, clock or random number in here, and no kind of letter is looked at.

namespace MUSTER_EXPORT muster {
namespace host {

using muster::operator==;

/// Which life of which node this is.
struct Self {
  NodeId id;
  Incarnation incarnation;
  std::uint64_t instance{};  ///< random, drawn when the process begins the life; never 0
  std::string cluster;       ///< the canonical text of the cluster, `key=value` lines
  WireVersions wire{};       ///< that it speaks
};
MUSTER_DESCRIBE(Self, id, incarnation, instance, cluster, wire);

/// What it says of itself to anybody: nothing about a session, nor its instance, with which whoever
/// hears it could go on with one.
Hello hello_of(const Self& self, Role role, NodeId to);

/// What is bounded, and by how much.
struct SessionLimits {
  /// Connections that have not said Hello yet; one more ends the oldest of the machine that has
  /// most of them. Those of the cluster's nodes have their own place, one each.
  std::size_t strangers = 64;
  std::size_t observers = 16;  ///< at least 1
  /// Connections that one machine may begin in a tenth of a second: far more than the dials of any
  /// node where connections break over and over, and few enough to be answered by the way.
  unsigned arrivals = 400;
  /// The same where each begins with a proof of who the other side dials: a third of a millisecond.
  static constexpr unsigned arrivals_with_proofs = 20;
  /// Bytes of letters that one node has not acknowledged; beyond it letters are dropped, as if
  /// lost.
  std::size_t queue_bytes = 4 * 1024 * 1024;
  std::size_t queue_letters = 4096;
  /// How long a connection that was accepted may take to say Hello, and how long a frame may be
  /// partial, which the driver sees to; zero: 2 T and T.
  Duration hello_deadline{};
  Duration frame_deadline{};
  /// How much a machine's word counts: that nobody listens there proves that the life is over.
  /// False: it is silence, for what is between may have said it.
  bool proofs = true;
};
MUSTER_DESCRIBE(SessionLimits, strangers, observers, arrivals, queue_bytes, queue_letters,
                hello_deadline, frame_deadline, proofs);

/// So many bytes of letters are written to a connection, and one frame more, before the driver has
/// to say that there is room again.
inline constexpr std::size_t enough_bytes = 128 * 1024;

/// What the sessions of a life are told once. Only addresses may change.
struct SessionConfig {
  Self self;
  std::map<NodeId, std::string> addresses;  ///< of every other node, as sentences name them
  Duration T{};
  SessionLimits limits;
  StruckSessionLines struck{};
};
MUSTER_DESCRIBE(SessionConfig, self, addresses, T, limits, struck);

// --- What is remembered

/// A call that is neither answered nor unanswered yet.
struct Call {
  Letter letter;                    ///< kept, for a call to a node goes to its next life too
  std::size_t size{};               ///< its bytes
  std::optional<Incarnation> life;  ///< the life that it names, if any
  std::optional<Time> deadline;
  bool before_dial = false;  ///< made before the last dial to that node began
  bool written = false;      ///< on a connection to the life that the session is with
};
MUSTER_DESCRIBE(Call, letter, size, life, deadline, before_dial, written);

using Calls = std::map<CallNumber, Call>;

/// A letter that the other side has not acknowledged.
struct Queued {
  std::uint64_t number{};
  CallNumber call;               ///< its letter stays with the call
  std::optional<Letter> answer;  ///< the letter, where it is an answer
  std::size_t size{};
};
MUSTER_DESCRIBE(Queued, number, call, answer, size);

/// What this life and one life of another node have told each other, over as many connections as it
/// takes.
struct Session {
  Incarnation life;
  std::uint64_t instance{};
  std::uint64_t peer_session{};  ///< the other side's count of its sessions with this life
  std::uint8_t wire{};           ///< the version that both speak

  std::vector<Queued> queue;  ///< not acknowledged, in the order of their numbers
  std::size_t written{};      ///< so many of them were written to the present connection
  std::size_t queued_bytes{};
  std::uint64_t last_number{};
  std::uint64_t highest_written{};  ///< on any connection

  std::uint64_t received{};  ///< the number of the last letter that came
  std::uint64_t told{};      ///< as the other side was told
  std::size_t untold_bytes{};
  std::vector<CallNumber> owed;  ///< calls of that life that wait to be answered
};
MUSTER_DESCRIBE(Session, life, instance, peer_session, wire, queue, written, queued_bytes,
                last_number, highest_written, received, told, untold_bytes, owed);

/// How a peer is in touch with this node: there is no connection, and none is on its way.
struct Apart {};
MUSTER_DESCRIBE(Apart);
/// Until the next dial.
struct Waiting {
  Time until{};
};
MUSTER_DESCRIBE(Waiting, until);
/// A Dial is out.
struct Dialling {};
MUSTER_DESCRIBE(Dialling);
/// Dialled: our Hello is out, and no session stands on it yet.
struct Greeting {
  ConnectionId connection;
  Time until{};
  bool refusal_follows = false;  ///< their Hello has come, and says so
  bool has_crossed = false;      ///< theirs was refused on another connection
};
MUSTER_DESCRIBE(Greeting, connection, until, refusal_follows, has_crossed);
/// It carries the session.
struct Connected {
  ConnectionId connection;
  std::size_t written{};  ///< bytes, since there was last said to be room
  bool full = false;      ///< Writable is to come
};
MUSTER_DESCRIBE(Connected, connection, written, full);

using Touch = std::variant<Apart, Waiting, Dialling, Greeting, Connected>;

/// Another node, as this one sees it.
struct Peer {
  Incarnation seen;            ///< the highest incarnation seen of it
  std::uint64_t instance{};    ///< of that life; 0 where it is not known
  std::uint64_t last_hello{};  ///< the number of the last Hello taken from that life

  std::optional<Session> session;
  std::uint64_t session_count = 1;  ///< with that life: Hello::session
  Incarnation over;                 ///< the last life that was found to be over
  bool heard = false;               ///< a letter came since it was

  Touch touch;
  bool greet = false;      ///< dial once although nothing needs it
  bool unwelcome = false;  ///< the last Hello was refused: calls do not hurry the next one
  bool differs = false;    ///< it answered the last dial, and cannot be spoken with
  /// It did, where it was dialled, as it has met a later life, or another process of this one: it
  /// differs until it has taken this life.
  bool refuses_this_life = false;
  unsigned quick_dials{};  ///< since a letter came
  unsigned slow_dials{};   ///< since a Hello came
  /// Somebody said here that it is its next life; which is believed of who is dialled,
  bool doubted = false;
  std::optional<Time> looked_until;  ///< and that is not done again until then
};
MUSTER_DESCRIBE(Peer, seen, instance, last_hello, session, session_count, over, heard, touch, greet,
                unwelcome, differs, refuses_this_life, quick_dials, slow_dials, doubted,
                looked_until);

/// Somebody whose connection was accepted: has said no Hello yet, or observes.
struct Stranger {
  ConnectionId connection;
  Time until{};
  std::string from{};          ///< Accepted::from
  bool beside_a_node = false;  ///< a node of the cluster is configured there
  bool observer = false;
  bool asks = false;  ///< its question is being answered
};
MUSTER_DESCRIBE(Stranger, connection, until, from, beside_a_node, observer, asks);

/// The connections that one machine has begun since then.
struct Arrivals {
  Time since{};
  unsigned count{};
};
MUSTER_DESCRIBE(Arrivals, since, count);

/// The verdicts that wait for Drained. Bounds that have passed: silence.
struct Overdue {
  Time at{};
};
MUSTER_DESCRIBE(Overdue, at);
/// A Hello of another node, which may be of a new life: what the old one has said still counts.
struct Greeted {
  ConnectionId connection;
  Hello hello;
};
MUSTER_DESCRIBE(Greeted, connection, hello);
/// A dial was refused: the life there is over, unless a new one has come as far as its Hello.
struct NobodyListens {
  NodeId node;
};
MUSTER_DESCRIBE(NobodyListens, node);

using Verdict = std::variant<Overdue, Greeted, NobodyListens>;

/// The last warning about a matter.
struct Warned {
  std::string text;
  Time at{};
};
MUSTER_DESCRIBE(Warned, text, at);

/// What has happened to sessions since the life began.
struct Counters {
  std::uint64_t accepted{};        ///< connections that others dialled
  std::uint64_t dialled{};         ///< connections that this node dialled
  std::uint64_t refused_hellos{};  ///< Hellos that made no session
  std::uint64_t garbage{};         ///< connections closed for what came, or did not come, on them
  std::uint64_t crowded{};         ///< connections closed to make room
  std::uint64_t sessions{};        ///< sessions begun
  std::uint64_t broken{};          ///< connections that ended and were not closed by this node
  std::uint64_t letters_in{};
  std::uint64_t letters_out{};
  std::uint64_t bytes_in{};    ///< counted by the driver
  std::uint64_t bytes_out{};   ///< counted by the driver
  std::uint64_t resent{};      ///< letters sent again over another connection
  std::uint64_t duplicates{};  ///< letters received again, and dropped
  std::uint64_t dropped{};     ///< letters that found no room in a queue
};
MUSTER_DESCRIBE(Counters, accepted, dialled, refused_hellos, garbage, crowded, sessions, broken,
                letters_in, letters_out, bytes_in, bytes_out, resent, duplicates, dropped);

/// The sessions of one life.
///
/// Who accepts a connection decides, alone and before any letter, whether it stays: the dialler
/// says Hello first, and the other side answers with its own Hello or refuses. So both ends are of
/// one mind: of two that cross, the higher id refuses the one that it was dialled while its own
/// Hello is out, and the lower one gives its own up. But only once: who comes again has not got it,
/// for the process that did may be gone without a word. A Hello's number tells a new Hello from one
/// that was long on its way.
struct Sessions {
  std::map<NodeId, Peer> peers;
  std::map<ConnectionId, NodeId> whose;  ///< the connections of peers
  Calls calls;
  std::vector<Stranger> strangers;           ///< and observers, the oldest first
  std::map<std::string, Arrivals> arrivals;  ///< by machine, of the last tenth of a second
  std::vector<Verdict> verdicts;  ///< that wait; the last is next. Empty when no Drain is out.
  std::uint64_t hellos{};         ///< said in this life
  std::optional<Time> wake;       ///< the Wake that is out
  std::optional<Time> soonest;    ///< of the deadlines that were set since
  Voices voices;
  /// Nodes that differ, and in what: the keys with both values, where its text was heard.
  std::map<NodeId, std::string> differing;
  OthersDiffer others;                   ///< as they were told last
  std::map<std::string, Warned> warned;  ///< by matter: there are few
  Counters counters;

  /// Of `safe`, the lives of the others that this node has met.
  static Sessions begin(const SessionConfig& config, const SafeState& safe);

  /// Somebody at that machine has dialled, as Accepted::from has it. False where it has dialled too
  /// often: the connection is to be closed unread, and not told of.
  bool admits(const SessionConfig& config, Time now, const std::string& machine);

  /// Appends to `outputs` what is to be done about `input`. Times never go back.
  void take(const SessionConfig& config, Time now, SessionInput input, SessionOutputs& outputs);

  /// Gives up all calls but those that `awaited` is true for: neither answers to them nor
  /// CallUnanswered will come, and they are not sent again.
  void keep_only(const std::function<bool(CallNumber)>& awaited);

  /// The lives that sessions stand with.
  [[nodiscard]] std::map<NodeId, Incarnation> lives() const;
  /// The wire version of each of those sessions.
  [[nodiscard]] std::map<NodeId, std::uint8_t> wire() const;
};
MUSTER_DESCRIBE(Sessions, peers, whose, calls, strangers, arrivals, verdicts, hellos, wake, soonest,
                voices, differing, others, warned, counters);

}  // namespace host
}  // namespace muster
