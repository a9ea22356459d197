#pragma once

#include <muster/detail/values/compiled_once.hpp>
#include <muster/protocol/config.hpp>
#include <muster/protocol/letter.hpp>
#include <muster/protocol/view.hpp>

#include <variant>
#include <vector>

/// The interface of every protocol: the events that can happen to a node, and the actions that a
/// node asks of its host.
///
/// `Actions step(const Config&, State&, const Event&, Moment at)` is a pure function. `at` is the
/// time of the event by the node's clock; it matters only if `reads_clock` is true for the
/// configuration. The host performs the actions strictly one after the other, and a node may fail
/// between any two of them. The host gives the next event only after it has performed the last
/// action of the step before.

namespace MUSTER_EXPORT muster {

/// The timers of a node. `length_of` tells how long each of them runs.
enum class Timer {
  check,        ///< it is time for Check(i)
  coordinator,  ///< the coordinator was silent for too long: Timeout(i)
  retry,        ///< back off before starting over, for T doubled `level` times
  merge,        ///< give way to a coordinator with an id that is `level` higher (Section IV)
  accepts,      ///< a reasonable time for Accepts (Section IV)
  preempt,      ///< this node has been a member under a lower coordinator for `preempt_after`
  settle,       ///< the time that the other nodes have to come up is over
  rejoin,  ///< a node that was outvoted has stopped its work by now (docs/decisions/differing.md)
  right,   ///< a right to work ends, this node's or another's (quorum)
};
MUSTER_DESCRIBE_ENUM(Timer, check, coordinator, retry, merge, accepts, preempt, settle, rejoin,
                     right)

/// Why a node leaves.
enum class LeaveCause {
  asked,       ///< the node's owner asked for this: the process ends
  stood_back,  ///< hooks failed again and again: a new life begins after a while
  unsteady,    ///< the node lost its groups again and again: a new life begins after a while (calm)
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

/// A life begins, with nothing but safe storage. `safe.incarnation` is the number of this life and
/// is already durable.
struct Recovered {
  SafeState safe;
};
MUSTER_DESCRIBE(Recovered, safe);

/// A letter has arrived: a call of another node, or an answer.
struct Received {
  Letter letter;
  /// The instance of the life that sent it. The host gives the instance until `step` knows it.
  Instance instance{};
};
MUSTER_DESCRIBE(Received, letter, instance);

/// A call will never be answered: the paper's ONTIMEOUT.
struct Unanswered {
  NodeId by;
  CallNumber call;
  Unheard how = Unheard::silence;
};
MUSTER_DESCRIBE(Unanswered, by, call, how);

/// A life of another node is proven to be over.
struct Failed {
  NodeId node;
  Incarnation life;
};
MUSTER_DESCRIBE(Failed, node, life);

/// A timer has expired. Since the timer was armed, it was neither disarmed nor armed again.
struct Expired {
  Timer timer{};
};
MUSTER_DESCRIBE(Expired, timer);

/// This node let an event wait for longer than T/2. By assumption 9 it has failed without noticing.
struct Paused {
  Duration gap{};
};
MUSTER_DESCRIBE(Paused, gap);

/// The application has stopped its work. `report` is the application's report, if a `stop` was
/// owed.
struct Stopped {
  Ticket ticket;
  std::optional<Report> report;
};
MUSTER_DESCRIBE(Stopped, ticket, report);

/// `reorganize` has ended with this definition.
struct Reorganized {
  Ticket ticket;
  Definition definition;
};
MUSTER_DESCRIBE(Reorganized, ticket, definition);

/// `start` has succeeded.
struct Started {
  Ticket ticket;
};
MUSTER_DESCRIBE(Started, ticket);

/// `reorganize` or `start` failed, or was cancelled at its deadline. A `stop` that fails has no
/// event: it ends the process, because no one could know that the work has ended.
struct HookFailed {
  Ticket ticket;
  Hook hook{};
  std::string why;
};
MUSTER_DESCRIBE(HookFailed, ticket, hook, why);

/// The node's owner wants the node to leave in order.
struct Leaving {};
MUSTER_DESCRIBE(Leaving);

/// The node's owner or its application wants the group to reorganize although no node has failed.
///
/// In the Bully algorithm a coordinator runs Election(i). A member recovers, so that its
/// coordinator finds it. In the Invitation algorithm a coordinator merges its own group. The event
/// has no effect if a procedure is running that leads to a new group anyway.
struct ElectionAsked {
  std::string why;  ///< the reason, in the words of the owner or the application
};
MUSTER_DESCRIBE(ElectionAsked, why);

/// The living nodes that this node cannot talk to, because their configuration, wire version or
/// identity differs, and the living nodes that it can talk to. The host gives this event while at
/// least one node differs, whenever either set changes, and once more when no node differs any
/// longer.
struct Differing {
  NodeSet differ;
  NodeSet agree;  ///< without this node
};
MUSTER_DESCRIBE(Differing, differ, agree);

using Event = std::variant<Recovered, Received, Unanswered, Failed, Expired, Paused, Stopped,
                           Reorganized, Started, HookFailed, Leaving, ElectionAsked, Differing>;

// --- Actions

/// Write this state to safe storage. The state must be durable before the next action.
struct Save {
  SafeState safe;
};
MUSTER_DESCRIBE(Save, safe);

/// Send a letter. After a call (`bound` is set), the host later gives exactly one of `Received`
/// with the answer and `Unanswered`. The host gives none of them once the node no longer awaits the
/// call.
struct Send {
  Letter letter;
  std::optional<Bound> bound;  ///< none for an answer
};
MUSTER_DESCRIBE(Send, letter, bound);

/// Start the timer from the beginning, whether it runs or not.
struct Arm {
  Timer timer{};
  unsigned
      level{};  ///< `retry`, `merge`: see length_of; `preempt`, `settle`, `right`: the length in ms
};
MUSTER_DESCRIBE(Arm, timer, level);

/// Stop the timer, if it runs.
struct Disarm {
  Timer timer{};
};
MUSTER_DESCRIBE(Disarm, timer);

/// The moment by which all of the stop must be over. None: one stop_deadline after the stop begins.
struct Deadline {
  std::optional<Moment> at;
};
MUSTER_DESCRIBE(Deadline, at);
template <>
inline constexpr bool left_out_by_default<Deadline> = true;

/// Stop the application: revoke the permits, cancel the running hook and wait for it, then call
/// `stop` if that is owed. If all of this is not over by the deadline, the process ends. Leads to
/// `Stopped`.
struct Stop {
  Ticket ticket;
  StopCause cause;
  bool owed{};
  Deadline by = {};  ///< set if a right to work has ended
};
MUSTER_DESCRIBE(Stop, ticket, cause, owed, by);

/// Have the application compute a new definition from the holdings of the members. Leads to
/// `Reorganized` or `HookFailed`.
struct Reorganize {
  Ticket ticket;
  GroupNumber group;
  Members members;
};
MUSTER_DESCRIBE(Reorganize, ticket, group, members);

/// Have the application install the definition and work. Leads to `Started` or `HookFailed`.
struct Start {
  Ticket ticket;
  Definition definition;
  GroupNumber group;
};
MUSTER_DESCRIBE(Start, ticket, definition, group);

/// The application may work until this moment, by the clock that `step` is given. No permit is
/// valid later, and a `Start` that comes later is answered with `HookFailed`. A later Right
/// replaces an earlier one.
struct Right {
  Moment until{};
};
MUSTER_DESCRIBE(Right, until);

/// All work has ended: close the sessions and the listener. The life is over.
struct Leave {
  LeaveCause cause{};
};
MUSTER_DESCRIBE(Leave, cause);

using Action = std::variant<Save, Send, Arm, Disarm, Stop, Reorganize, Start, Leave, Right>;
using Actions = std::vector<Action>;

// --- Times

/// How long this timer runs when it is armed with this level. The same for every host.
Duration length_of(Timer timer, unsigned level, const Timings& timings);

/// How long a call with this bound may stay unanswered.
Duration length_of(Bound bound, const Timings& timings);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::Event);
MUSTER_COMPILED_ONCE(muster::Action);
MUSTER_COMPILED_ONCE(muster::Actions);
