#pragma once

#include <muster/host/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The inputs and outputs of the sessions of a life (muster/host/sessions.hpp). A driver has the
/// sockets and the clock: it gives the inputs and does what the outputs ask for.

namespace MUSTER_EXPORT muster {
namespace host {

using muster::operator==;

/// A moment by the driver's clock, which never goes back.
using Time = Duration;

/// A connection of a life. The number of a connection. The driver uses no number twice.
using ConnectionId = Strong<struct ConnectionIdKind, std::uint64_t>;

// --- Inputs: observations of the driver

/// The life has begun. Every other node is dialled once.
struct Greet {};
MUSTER_DESCRIBE(Greet);

/// A letter of `step`: a call, which may stay unanswered for `bound`, or an answer. An answer goes
/// to the life that made the call. If that life is over, the answer is dropped.
struct SendLetter {
  Letter letter;
  std::optional<Duration> bound;
  std::size_t size{};  ///< the size of the letter in bytes, if the driver encodes it
};
MUSTER_DESCRIBE(SendLetter, letter, bound, size);

/// A dial has become a connection.
struct Dialled {
  NodeId node;
  ConnectionId connection;
};
MUSTER_DESCRIBE(Dialled, node, connection);

/// How a dial ended without a connection.
enum class DialEnd {
  refused,  ///< the machine itself said that no process listens there
  reset,    ///< accepted and reset at once, as by a process that is ending
  silence,  ///< any other outcome, such as no answer within T; this outcome proves nothing
};
MUSTER_DESCRIBE_ENUM(DialEnd, refused, reset, silence)

/// A dial ended without a connection.
struct DialFailed {
  NodeId node;
  DialEnd end{};
};
MUSTER_DESCRIBE(DialFailed, node, end);

/// Another program has dialled this node.
struct Accepted {
  ConnectionId connection;
  std::string from{};  ///< the machine of the dialler, as a numeric address
};
MUSTER_DESCRIBE(Accepted, connection, from);

/// Another program has dialled, but the system has no descriptor left for the connection.
struct Exhausted {};
MUSTER_DESCRIBE(Exhausted);

/// A whole frame of `size` bytes has arrived.
struct Came {
  ConnectionId connection;
  Frame frame;
  std::size_t size{};
  /// The node that the other side's certificate names; 0 for an observer. None if no certificates
  /// are used.
  std::optional<NodeId> by{};
};
MUSTER_DESCRIBE(Came, connection, frame, size, by);

/// The cause of the end of a connection, if this node did not close it.
enum class ConnectionEnd {
  finished,  ///< closed by the other side, reset, or timed out
  garbage,   ///< the bytes are not a stream of frames
  late,      ///< the rest of a frame did not arrive in time
  unproven,  ///< the other side has no certificate, or not one that this node accepts
  refused,   ///< the other side has a valid certificate and does not accept this node's
};
MUSTER_DESCRIBE_ENUM(ConnectionEnd, finished, garbage, late, unproven, refused)

/// A connection has ended and the driver has closed it. The driver has given everything that
/// arrived on the connection before.
struct Closed {
  ConnectionId connection;
  ConnectionEnd end{};
  std::string why;
};
MUSTER_DESCRIBE(Closed, connection, end, why);

/// All written bytes of the connection have been sent: the reply to TellRoom.
struct Writable {
  ConnectionId connection;
};
MUSTER_DESCRIBE(Writable, connection);

/// The time that the last Wake asked for has come.
struct Due {};
MUSTER_DESCRIBE(Due);

/// The reply to Drain, also if there was nothing to read.
struct Drained {};
MUSTER_DESCRIBE(Drained);

using SessionInput = std::variant<Greet, SendLetter, Dialled, DialFailed, Accepted, Exhausted, Came,
                                  Closed, Writable, Due, Drained>;

// --- Outputs: instructions to the driver, to be followed in order

/// Connect to this node. Within T the driver must report Dialled or DialFailed, unless it gets a
/// GiveUp first.
struct Dial {
  NodeId node;
};
MUSTER_DESCRIBE(Dial, node);

/// Abandon the dial to this node. Report nothing more about this dial.
struct GiveUp {
  NodeId node;
};
MUSTER_DESCRIBE(GiveUp, node);

/// Write this frame. The frames of one turn of the driver are sent together.
struct Write {
  ConnectionId connection;
  Frame frame;
};
MUSTER_DESCRIBE(Write, connection, frame);

/// Report Writable once all written bytes have been sent.
struct TellRoom {
  ConnectionId connection;
};
MUSTER_DESCRIBE(TellRoom, connection);

/// Close the connection and report nothing more about it. Before that, send as much of what was
/// written as can be sent without waiting.
struct Close {
  ConnectionId connection;
};
MUSTER_DESCRIBE(Close, connection);

/// A verdict waits. Read everything that can be read at this moment, then report Drained. Always
/// the last of the outputs.
struct Drain {
  std::vector<ConnectionId> connections;
  bool listener{};  ///< true: also accept waiting connections, and read from them
};
MUSTER_DESCRIBE(Drain, connections, listener);

/// Report Due at this time or later. This Wake replaces an earlier one.
struct Wake {
  Time at{};
};
MUSTER_DESCRIBE(Wake, at);

/// A call of another node, or the answer to a call that this node still awaits.
struct LetterCame {
  Letter letter;
  Instance instance;  ///< of the life that sent it
};
MUSTER_DESCRIBE(LetterCame, letter, instance);

/// A call can no longer be answered: the paper's ONTIMEOUT. Each call leads to exactly one of
/// CallUnanswered and LetterCame, unless it was given up.
struct CallUnanswered {
  NodeId by;
  CallNumber call;
  Unheard how = Unheard::silence;
};
MUSTER_DESCRIBE(CallUnanswered, by, call, how);

/// A life of another node is proven to be over.
struct LifeOver {
  NodeId node;
  Incarnation life;
};
MUSTER_DESCRIBE(LifeOver, node, life);

/// Nodes that claim to have met a later life of this node, or another process of this life, with
/// the incarnation that each has met. The claim of a node counts only if this node has dialled it
/// at its configured address. A single claim is not enough: its sender may itself be wrong.
using LifeClaims = std::map<NodeId, Incarnation>;

/// The latest life of this node that any of these nodes has met.
Incarnation latest_life(const LifeClaims& life_claims);

/// The latest life that was met, if at least two nodes have met a life later than `own`, or another
/// process of `own`. Otherwise none. Then this life must end. Nobody can know which of two
/// processes has the current store, but these nodes have met the other one before.
std::optional<Incarnation> later_life(const LifeClaims& life_claims, Incarnation own);

/// Other nodes have met a higher incarnation of this node, or this incarnation in another process.
/// This life must not go on.
struct OutlivedBy {
  LifeClaims life_claims;
};
MUSTER_DESCRIBE(OutlivedBy, life_claims);

/// The living nodes that differ from this node, and those that agree with it. The driver passes
/// both sets to `step`. The sessions report the sets while at least one node differs, whenever
/// either set changes, and once more when no node differs any longer. A node differs if it refused
/// this node, or was refused, when this node dialled it. Claims on other connections do not count.
struct OthersDiffer {
  NodeSet differ;
  NodeSet agree;
};
MUSTER_DESCRIBE(OthersDiffer, differ, agree);

/// One sentence for the owner of the node. The sentence is not repeated while nothing changes.
struct Warning {
  std::string text;
};
MUSTER_DESCRIBE(Warning, text);

/// The connection carries a question (Role::asker). From now on the connection belongs to the
/// driver.
struct HandOver {
  ConnectionId connection;
  Hello hello;
};
MUSTER_DESCRIBE(HandOver, connection, hello);

/// An observer asks for the status.
struct TellStatus {
  ConnectionId connection;
};
MUSTER_DESCRIBE(TellStatus, connection);

using SessionOutput =
    std::variant<Dial, GiveUp, Write, TellRoom, Close, Drain, Wake, LetterCame, CallUnanswered,
                 LifeOver, OutlivedBy, OthersDiffer, Warning, HandOver, TellStatus>;
using SessionOutputs = std::vector<SessionOutput>;

}  // namespace host
}  // namespace muster
