#pragma once

#include <muster/host/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a driver tells the sessions of a life (muster/host/sessions.hpp), and what they have it do.

namespace MUSTER_EXPORT muster {
namespace host {

using muster::operator==;

/// A moment by the driver's clock, which never goes back.
using Time = Duration;

/// One connection of a life's, numbered by its driver and never twice.
using ConnectionId = Strong<struct ConnectionIdKind, std::uint64_t>;

// --- What a driver can see

/// The life has begun: every other node is told, once.
struct Greet {};
MUSTER_DESCRIBE(Greet);

/// A letter of `step`: a call, which may stay unanswered for `bound`, or an answer, which goes to
/// the life that made the call or nowhere.
struct SendLetter {
  Letter letter;
  std::optional<Duration> bound;
  std::size_t size{};  ///< in bytes, where the driver makes bytes of it
};
MUSTER_DESCRIBE(SendLetter, letter, bound, size);

/// The dial has become a connection.
struct Dialled {
  NodeId node;
  ConnectionId connection;
};
MUSTER_DESCRIBE(Dialled, node, connection);

/// How a dial ended without one.
enum class DialEnd {
  refused,  ///< nobody listens there: the machine itself has said so
  reset,    ///< accepted, and reset before that was noticed: as a process does that dies
  silence,  ///< anything else, T without an answer included: it proves nothing
};
MUSTER_DESCRIBE_ENUM(DialEnd, refused, reset, silence)

struct DialFailed {
  NodeId node;
  DialEnd end{};
};
MUSTER_DESCRIBE(DialFailed, node, end);

/// Somebody has dialled this node.
struct Accepted {
  ConnectionId connection;
  std::string from{};  ///< the machine that has, as a numeric address
};
MUSTER_DESCRIBE(Accepted, connection, from);

/// Somebody has, and the system has no descriptor left for the connection.
struct Exhausted {};
MUSTER_DESCRIBE(Exhausted);

/// A whole frame came, of that many bytes.
struct Came {
  ConnectionId connection;
  Frame frame;
  std::size_t size{};
  /// Who the other side has proven to be: an observer is 0. None where nobody has to prove it.
  std::optional<NodeId> by{};
};
MUSTER_DESCRIBE(Came, connection, frame, size, by);

/// Why a connection ended that this node did not close.
enum class ConnectionEnd {
  finished,  ///< closed by the other side, reset, or timed out
  garbage,   ///< what came is no stream of frames
  late,      ///< the rest of a frame did not come in time
  unproven,  ///< who the other side is was not proven, or is not believed
  refused,   ///< the other side, which has proven who it is, does not believe this one
};
MUSTER_DESCRIBE_ENUM(ConnectionEnd, finished, garbage, late, unproven, refused)

/// All that came on it was given before. The driver has closed it.
struct Closed {
  ConnectionId connection;
  ConnectionEnd end{};
  std::string why;
};
MUSTER_DESCRIBE(Closed, connection, end, why);

/// What was written has gone: the reply to TellRoom.
struct Writable {
  ConnectionId connection;
};
MUSTER_DESCRIBE(Writable, connection);

/// The time of the last Wake has come.
struct Due {};
MUSTER_DESCRIBE(Due);

/// The reply to Drain, also when nothing was read.
struct Drained {};
MUSTER_DESCRIBE(Drained);

using SessionInput = std::variant<Greet, SendLetter, Dialled, DialFailed, Accepted, Exhausted, Came,
                                  Closed, Writable, Due, Drained>;

// --- What it is to do, in order

/// Connect to that node: Dialled or DialFailed follows, within T, unless it is given up.
struct Dial {
  NodeId node;
};
MUSTER_DESCRIBE(Dial, node);

/// Nothing of the dial to that node is wanted any more, and nothing may come of it.
struct GiveUp {
  NodeId node;
};
MUSTER_DESCRIBE(GiveUp, node);

/// What is written goes together, when the driver's turn ends.
struct Write {
  ConnectionId connection;
  Frame frame;
};
MUSTER_DESCRIBE(Write, connection, frame);

/// Say Writable once all that was written has gone.
struct TellRoom {
  ConnectionId connection;
};
MUSTER_DESCRIBE(TellRoom, connection);

/// Nothing may come from it any more. What was written goes first, as far as it goes at once.
struct Close {
  ConnectionId connection;
};
MUSTER_DESCRIBE(Close, connection);

/// A verdict waits: all that can be read at this moment is to be given before Drained. It ends the
/// outputs.
struct Drain {
  std::vector<ConnectionId> connections;
  bool listener{};  ///< also who has dialled is to be accepted, and what they say to be read
};
MUSTER_DESCRIBE(Drain, connections, listener);

/// Give Due at that time, or later; in place of what was asked for before.
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

/// That call can no longer be answered: the paper's ONTIMEOUT. For every call exactly one of this
/// and LetterCame comes, unless it was given up.
struct CallUnanswered {
  NodeId by;
  CallNumber call;
  Unheard how = Unheard::silence;
};
MUSTER_DESCRIBE(CallUnanswered, by, call, how);

/// That life of another node is over: proven.
struct LifeOver {
  NodeId node;
  Incarnation life;
};
MUSTER_DESCRIBE(LifeOver, node, life);

/// Who says, and of which incarnation, that this life has been seen before or is over: nodes at the
/// addresses where this one has dialled them. One alone nobody can tell from a stranger.
using Voices = std::map<NodeId, Incarnation>;

/// The latest life that any of them has seen.
Incarnation latest_life(const Voices& voices);

/// The same, where two at least know a later one than `own`, which is over then, or another process
/// of it: which of the two has the store as it was left nobody can know, but that they have met the
/// other before.
std::optional<Incarnation> later_life(const Voices& voices, Incarnation own);

/// Other nodes have seen this incarnation of this node: a higher one, and this life must not go on,
/// or the very one in another process.
struct OutlivedBy {
  Voices voices;
};
MUSTER_DESCRIBE(OutlivedBy, voices);

/// Which nodes that are alive differ from this one, and which do not: `step` is to know. Told where
/// one differs, whenever that changes, and once when none does any more. One differs that refused
/// this node, or was refused, where this node has dialled it: whoever else says so is a stranger.
struct OthersDiffer {
  NodeSet differ;
  NodeSet agree;
};
MUSTER_DESCRIBE(OthersDiffer, differ, agree);

/// One sentence for the owner of the node; not repeated while nothing changes.
struct Warning {
  std::string text;
};
MUSTER_DESCRIBE(Warning, text);

/// The connection is of somebody who asks (Role::asker), and the driver's from now on.
struct HandOver {
  ConnectionId connection;
  Hello hello;
};
MUSTER_DESCRIBE(HandOver, connection, hello);

/// An observer wants to know the status.
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
