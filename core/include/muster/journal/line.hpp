#pragma once

#include <muster/protocol/protocol.hpp>
#include <muster/protocol/step.hpp>
#include <muster/values/text.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// A line of a journal (docs/reference/journal.md). Live nodes, the simulator and the checker all
/// write the same lines.

namespace MUSTER_EXPORT muster {
namespace journal {

using muster::operator==;
using muster::operator<<;

/// The clock of every `t`. `monotonic` is CLOCK_MONOTONIC of the host, so the journals of all
/// processes on one host can be merged.
enum class Clock { monotonic, simulated };
MUSTER_DESCRIBE_ENUM(Clock, monotonic, simulated)

/// When a line was written, in which life, and its position in that life.
struct Stamp {
  Duration t{};  ///< since the clock's start
  NodeId node;
  Incarnation incarnation;
  std::uint64_t seq{};  ///< the position in the life; the line after the first has 1
};
MUSTER_DESCRIBE(Stamp, t, node, incarnation, seq);

/// The first line of a life, and of every segment of its journal.
struct Header {
  Duration t{};
  NodeId node;
  Incarnation incarnation;
  Clock clock{};
  Config config;
  std::optional<Protocol> state;  ///< set only if the segment continues a life
  std::uint64_t gap{};            ///< the count of the next line, if that line is a Gap
};
MUSTER_DESCRIBE(Header, t, node, incarnation, clock, config, state, gap);

/// The result of an event on a node. Written before the actions are performed. `stamp.t` is read
/// before `step` is called.
struct Step {
  Stamp stamp;
  Event event;
  Actions actions;
  View view;
  Moment at = {};  ///< the time that was given to `step`, if it reads the clock
};
MUSTER_DESCRIBE(Step, stamp, event, actions, view, at);

/// One more Save of the life's last step is durable.
struct Performed {
  Stamp stamp;
};
MUSTER_DESCRIBE(Performed, stamp);

/// The edge of a hook that a line records.
enum class Edge { begin, end, failed };
MUSTER_DESCRIBE_ENUM(Edge, begin, end, failed)

/// One member as its `reorganize` saw it.
struct MemberSeen {
  NodeId node;
  Incarnation incarnation;
  Digest report;
  std::optional<GroupNumber> group;  ///< the group of the member's last assignment
  bool empty = true;                 ///< the member's safe storage was empty
};
MUSTER_DESCRIBE(MemberSeen, node, incarnation, report, group, empty);

/// A hook begins (written before the call), ends or fails (written after it).
struct HookEdge {
  Stamp stamp;
  Hook hook{};
  Edge edge{};
  std::optional<GroupNumber> group;  ///< the hook's group; none for the first `stop` of a life
  Ticket ticket;
  std::optional<std::vector<MemberSeen>> members;  ///< only when a `reorganize` begins
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

/// Lines of this life are missing before this one: they were omitted, or a disk lost them. This
/// line comes before a step or before the end of the life, when all actions of earlier steps were
/// performed.
struct Gap {
  Stamp stamp;
  std::uint64_t lines{};  ///< the number of missing lines; each of them had a `seq` of its own
  Protocol state;         ///< the state in which the next step begins
};
MUSTER_DESCRIBE(Gap, stamp, lines, state);

/// The last line of a life that ends itself.
struct Ended {
  Stamp stamp;
  int code{};  ///< the exit code; 0 if the node left in order
  std::string why;
};
MUSTER_DESCRIBE(Ended, stamp, code, why);

/// The kinds of text that an application gives to `Services`.
enum class RemarkKind {
  note,    ///< for the journal only
  broken,  ///< an invariant of the application does not hold
};
MUSTER_DESCRIBE_ENUM(RemarkKind, note, broken)

/// A text of the node's application.
struct Remark {
  Stamp stamp;
  RemarkKind kind{};
  std::string text;
};
MUSTER_DESCRIBE(Remark, stamp, kind, text);

/// A check over all nodes has found that an invariant of the application does not hold.
struct Finding {
  Duration t{};
  std::string broken;
};
MUSTER_DESCRIBE(Finding, t, broken);

/// Faults that nodes suffer from outside. The journal writes `power_cut` as "power-cut".
enum class FaultKind {
  killed,  ///< written before the signal is sent
  paused,
  resumed,
  cut,  ///< no letter passes between `node` and `from`, or, without `from`, any other node
  healed,
  power_cut,
  wiped,       ///< the node's safe storage is empty from now on
  terminated,  ///< the node's process is asked to end; written before the signal is sent
  ended,       ///< the node's process has ended
  reset,       ///< one of the node's connections was broken
  restored,    ///< the node's safe storage has an older state from now on
};
MUSTER_DESCRIBE_ENUM(FaultKind, killed, paused, resumed, cut, healed, power_cut, wiped, terminated,
                     ended, reset, restored)

/// A fault that a test or an operator caused.
struct Fault {
  Duration t{};
  FaultKind kind{};
  std::optional<NodeId> node;   ///< none: all nodes
  std::optional<NodeSet> from;  ///< for `cut` and `healed`
};
MUSTER_DESCRIBE(Fault, t, kind, node, from);

using Line =
    std::variant<Header, Step, Performed, HookEdge, Permits, Ended, Fault, Gap, Remark, Finding>;

/// The time of the line.
Duration time_of(const Line& line);

}  // namespace journal
}  // namespace muster
