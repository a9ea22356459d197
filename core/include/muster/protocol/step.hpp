#pragma once

#include <muster/detail/values/compiled_once.hpp>
#include <muster/protocol/config.hpp>
#include <muster/protocol/letter.hpp>
#include <muster/protocol/view.hpp>

#include <variant>
#include <vector>

/// The interface of every protocol: the events that can happen to a node, and the actions that it
/// asks its host for. `Actions step(const Config&, State&, const Event&, Moment at)` is a pure
/// function; `at` is when the event is given, by the node's clock, and matters where `reads_clock`.
/// Actions are performed strictly one after the other, a node may fail between any two, and the
/// next event is given only after the last action of the step before was performed.

namespace MUSTER_EXPORT muster {

/// What a node waits for besides answers; the host knows how long each takes (Timings).
enum class Timer {
  check,        ///< it is time for Check(i)
  coordinator,  ///< nothing was heard from the coordinator for long: Timeout(i)
  retry,        ///< back off before starting over, T doubled `level` times
  merge,        ///< let a coordinator that is `level` above move first (section 4.1)
  accepts,      ///< a reasonable time for Accepts (section 4.1)
  preempt,      ///< this node has been a member of a lower one for so long (docs/options.md)
  settle,       ///< others have had their time to come up (docs/options.md)
  rejoin,       ///< who takes no part any more has ceased by now (docs/decisions/differing.md)
  right,        ///< a right to work ends, its own or another's (docs/options/quorum.md)
};
MUSTER_DESCRIBE_ENUM(Timer, check, coordinator, retry, merge, accepts, preempt, settle, rejoin,
                     right)

/// Why a node leaves.
enum class LeaveCause {
  asked,       ///< its owner wants it out: the process ends
  stood_back,  ///< hooks failed again and again: a new life begins after a while
  unsteady,    ///< it lost its groups again and again: the same (docs/options/calm.md)
};
MUSTER_DESCRIBE_ENUM(LeaveCause, asked, stood_back, unsteady)

/// How long a call may stay unanswered.
enum class Bound {
  answer,   ///< T
  stopped,  ///< T + stop_deadline
  started,  ///< T + start_deadline
};
MUSTER_DESCRIBE_ENUM(Bound, answer, stopped, started)

// --- Events
// -----------------------------------------------------------------------------------------

/// A life begins, with safe storage and nothing else; `safe.incarnation` is this life's, durable.
struct Recovered {
  SafeState safe;
};
MUSTER_DESCRIBE(Recovered, safe);

/// A remote procedure is called, or a call is answered.
struct Received {
  Letter letter;
  /// Of the life that sent it; told until `step` knows.
  Instance instance{};
};
MUSTER_DESCRIBE(Received, letter, instance);

/// That call will never be answered: the paper's ONTIMEOUT.
struct Unanswered {
  NodeId by;
  CallNumber call;
  Unheard how = Unheard::silence;
};
MUSTER_DESCRIBE(Unanswered, by, call, how);

/// That life of another node is over: proven.
struct Failed {
  NodeId node;
  Incarnation life;
};
MUSTER_DESCRIBE(Failed, node, life);

/// A timer that was armed, and neither disarmed nor armed anew since.
struct Expired {
  Timer timer{};
};
MUSTER_DESCRIBE(Expired, timer);

/// This node let something wait for longer than T/2: by assumption 9 it failed without noticing.
struct Paused {
  Duration gap{};
};
MUSTER_DESCRIBE(Paused, gap);

/// The application has ceased; its report, where a `stop` was owed.
struct Stopped {
  Ticket ticket;
  std::optional<Report> report;
};
MUSTER_DESCRIBE(Stopped, ticket, report);

struct Reorganized {
  Ticket ticket;
  Definition definition;
};
MUSTER_DESCRIBE(Reorganized, ticket, definition);

struct Started {
  Ticket ticket;
};
MUSTER_DESCRIBE(Started, ticket);

/// `reorganize` or `start` failed, or was cancelled at its deadline. (A `stop` that fails ends the
/// process: nobody could know otherwise that the application has ceased.)
struct HookFailed {
  Ticket ticket;
  Hook hook{};
  std::string why;
};
MUSTER_DESCRIBE(HookFailed, ticket, hook, why);

/// The node's owner wants it out, in order.
struct Leaving {};
MUSTER_DESCRIBE(Leaving);

/// The node's owner or its application wants its group to reorganize, though nothing has failed:
/// Election(i) on a coordinator, while a member recovers for its coordinator to find, unless
/// something runs that leads to a new group anyway. A coordinator of the Invitation algorithm
/// merges its own group.
struct ElectionAsked {
  std::string why;  ///< in their words
};
MUSTER_DESCRIBE(ElectionAsked, why);

/// Which nodes that are alive cannot be spoken with, for they differ from this one in their
/// configuration, their wire version or in who they are; and which can. Told where there is one
/// that differs, whenever any of this changes, and once when there is none any more.
struct Differing {
  NodeSet differ;
  NodeSet agree;  ///< without this node
};
MUSTER_DESCRIBE(Differing, differ, agree);

using Event = std::variant<Recovered, Received, Unanswered, Failed, Expired, Paused, Stopped,
                           Reorganized, Started, HookFailed, Leaving, ElectionAsked, Differing>;

// --- Actions
// ----------------------------------------------------------------------------------------

/// Durable before the next action.
struct Save {
  SafeState safe;
};
MUSTER_DESCRIBE(Save, safe);

/// Send a letter. For a call (`bound` set) the host later gives exactly one of `Received` with its
/// answer and `Unanswered`, unless the node no longer awaits it.
struct Send {
  Letter letter;
  std::optional<Bound> bound;  ///< none for an answer
};
MUSTER_DESCRIBE(Send, letter, bound);

/// Start the timer anew, whether it runs or not.
struct Arm {
  Timer timer{};
  unsigned level{};  ///< for `retry` and `merge`: see length_of; others of options: milliseconds
};
MUSTER_DESCRIBE(Arm, timer, level);

struct Disarm {
  Timer timer{};
};
MUSTER_DESCRIBE(Disarm, timer);

/// When all of a stop has to be over; none: a stop deadline after it began.
struct Deadline {
  std::optional<Moment> at;
};
MUSTER_DESCRIBE(Deadline, at);
template <>
inline constexpr bool left_out_by_default<Deadline> = true;

/// Revoke the permits, cancel the hook that runs and wait for it; if owed, call `stop`. All of it
/// inside one stop deadline, else the process ends itself. Ends with `Stopped`.
struct Stop {
  Ticket ticket;
  StopCause cause;
  bool owed{};
  Deadline by = {};  ///< where a right to work has ended
};
MUSTER_DESCRIBE(Stop, ticket, cause, owed, by);

/// Compute a new definition from what the members hold. Ends with `Reorganized` or `HookFailed`.
struct Reorganize {
  Ticket ticket;
  GroupNumber group;
  Members members;
};
MUSTER_DESCRIBE(Reorganize, ticket, group, members);

/// Install the definition and go on. Ends with `Started` or `HookFailed`.
struct Start {
  Ticket ticket;
  Definition definition;
  GroupNumber group;
};
MUSTER_DESCRIBE(Start, ticket, definition, group);

/// The application may work until then, by the clock that `step` is given: no permit is valid
/// later, and a `Start` that is later is `HookFailed`. The last one stands.
struct Right {
  Moment until{};
};
MUSTER_DESCRIBE(Right, until);

/// All has ceased: close sessions and listener. The life is over.
struct Leave {
  LeaveCause cause{};
};
MUSTER_DESCRIBE(Leave, cause);

using Action = std::variant<Save, Send, Arm, Disarm, Stop, Reorganize, Start, Leave, Right>;
using Actions = std::vector<Action>;

// --- Times, the same for every host
// ---------------------------------------------------------------------

/// How long that timer runs when it is armed with that level.
Duration length_of(Timer timer, unsigned level, const Timings& timings);

/// How long a call of that bound may stay unanswered.
Duration length_of(Bound bound, const Timings& timings);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::Event);
MUSTER_COMPILED_ONCE(muster::Action);
MUSTER_COMPILED_ONCE(muster::Actions);
