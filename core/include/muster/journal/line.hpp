#pragma once

#include <muster/protocol/protocol.hpp>
#include <muster/protocol/step.hpp>
#include <muster/values/text.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// A line of a journal (docs/journal.md): what happened, the same for live nodes, simulator and
/// checker.

namespace MUSTER_EXPORT muster {
namespace journal {

using muster::operator==;
using muster::operator<<;

/// The clock of every `t`: monotonic is CLOCK_MONOTONIC of the host, so that the journals of all
/// its processes can be merged.
enum class Clock { monotonic, simulated };
MUSTER_DESCRIBE_ENUM(Clock, monotonic, simulated)

/// When, in which life, and the how manieth line of it.
struct Stamp {
  Duration t{};  ///< since the clock's beginning
  NodeId node;
  Incarnation incarnation;
  std::uint64_t seq{};  ///< counts all lines of a life after its first, from 1
};
MUSTER_DESCRIBE(Stamp, t, node, incarnation, seq);

/// The first line of a life, and of every segment of its journal.
struct Header {
  Duration t{};
  NodeId node;
  Incarnation incarnation;
  Clock clock{};
  Config config;
  std::optional<Protocol> state;  ///< only where a segment goes on in a life
  std::uint64_t gap{};            ///< that of the next line, where that tells of one
};
MUSTER_DESCRIBE(Header, t, node, incarnation, clock, config, state, gap);

/// What an event made of a node; written before the actions are performed. `stamp.t` is read before
/// `step`.
struct Step {
  Stamp stamp;
  Event event;
  Actions actions;
  View view;
  Moment at = {};  ///< what `step` was given as the time, where it reads the clock
};
MUSTER_DESCRIBE(Step, stamp, event, actions, view, at);

/// The next Save of the last step is durable.
struct Performed {
  Stamp stamp;
};
MUSTER_DESCRIBE(Performed, stamp);

/// Which end of a hook.
enum class Edge { begin, end, failed };
MUSTER_DESCRIBE_ENUM(Edge, begin, end, failed)

/// What a `reorganize` was given of a member.
struct MemberSeen {
  NodeId node;
  Incarnation incarnation;
  Digest report;
  std::optional<GroupNumber> group;  ///< last assigned
  bool empty = true;                 ///< its safe storage was empty
};
MUSTER_DESCRIBE(MemberSeen, node, incarnation, report, group, empty);

/// A hook begins (stamped before it is called), ends or fails (after).
struct HookEdge {
  Stamp stamp;
  Hook hook{};
  Edge edge{};
  std::optional<GroupNumber> group;  ///< what it is about; none for the first `stop` of a life
  Ticket ticket;
  std::optional<std::vector<MemberSeen>> members;  ///< of a `reorganize` that begins
};
MUSTER_DESCRIBE(HookEdge, stamp, hook, edge, group, ticket, members);

/// The permits of a group are revoked, or the last of them is returned.
enum class PermitsEdge { revoked, returned };
MUSTER_DESCRIBE_ENUM(PermitsEdge, revoked, returned)

struct Permits {
  Stamp stamp;
  PermitsEdge edge{};
  GroupNumber group;
};
MUSTER_DESCRIBE(Permits, stamp, edge, group);

/// Lines of this life are not there, up to this one: left out, or lost to a disk. Comes before a
/// step, when all actions of the steps before were performed, or before the end of the life.
struct Gap {
  Stamp stamp;
  std::uint64_t lines{};  ///< how many; each had its `seq`
  Protocol state;         ///< with which the next step begins
};
MUSTER_DESCRIBE(Gap, stamp, lines, state);

/// The last line of a life that ends itself.
struct Ended {
  Stamp stamp;
  int code{};  ///< the exit code; 0 for an orderly end
  std::string why;
};
MUSTER_DESCRIBE(Ended, stamp, code, why);

/// What kind of thing an application says by `Services`.
enum class RemarkKind {
  note,    ///< it wants it to stand in the journal
  broken,  ///< an invariant of its own does not hold
};
MUSTER_DESCRIBE_ENUM(RemarkKind, note, broken)

/// What the application of a node says.
struct Remark {
  Stamp stamp;
  RemarkKind kind{};
  std::string text;
};
MUSTER_DESCRIBE(Remark, stamp, kind, text);

/// An invariant of an application does not hold, as a check that looks at all nodes has found.
struct Finding {
  Duration t{};
  std::string broken;
};
MUSTER_DESCRIBE(Finding, t, broken);

/// What is done to nodes from outside. In the journal `power_cut` is "power-cut".
enum class FaultKind {
  killed,  ///< stamped before the signal is sent
  paused,
  resumed,
  cut,  ///< no letter passes between `node` and `from` (none: all others)
  healed,
  power_cut,
  wiped,       ///< its safe storage is empty from now on
  terminated,  ///< asked to end; stamped before the signal is sent
  ended,       ///< its process is over
  reset,       ///< a connection was broken
  restored,    ///< its safe storage is from now on what it was before
};
MUSTER_DESCRIBE_ENUM(FaultKind, killed, paused, resumed, cut, healed, power_cut, wiped, terminated,
                     ended, reset, restored)

/// A line of whoever makes nodes fail.
struct Fault {
  Duration t{};
  FaultKind kind{};
  std::optional<NodeId> node;   ///< none: all nodes
  std::optional<NodeSet> from;  ///< of `cut` and `healed`
};
MUSTER_DESCRIBE(Fault, t, kind, node, from);

using Line =
    std::variant<Header, Step, Performed, HookEdge, Permits, Ended, Fault, Gap, Remark, Finding>;

/// When it happened.
Duration time_of(const Line& line);

}  // namespace journal
}  // namespace muster
