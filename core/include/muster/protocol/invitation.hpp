#pragma once

#include <muster/detail/protocol/node_state.hpp>

#include <map>
#include <variant>
#include <vector>

/// The Invitation algorithm of the paper (Section IV), as Muster ships it:
/// docs/protocols/invitation. No node is forced to join a group: coordinators invite each other.
/// Several groups can work at the same time.

namespace MUSTER_EXPORT muster {
namespace invitation {

using muster::operator==;

/// The calls of one wait that are not answered yet, with the called nodes.
using Calls = std::map<CallNumber, NodeId>;
/// Nodes in the order in which they are called.
using Queue = std::vector<NodeId>;

// --- The waits of procedures: one for each CALL of the paper, and a few of ours

/// No procedure of this node runs.
struct Idle {};
MUSTER_DESCRIBE(Idle);

/// Recovery(i): the application stops its work.
struct Ceasing {};
MUSTER_DESCRIBE(Ceasing);

/// Check(i): AreYouCoordinator was sent to all other nodes.
struct Checking {
  Calls asked;
  Queue not_asked;
  NodeSet found;  ///< K: the nodes that said Yes
  NodeSet lost;   ///< members that did not answer, or that are in another group by now
};
MUSTER_DESCRIBE(Checking, asked, not_asked, found, lost);

/// Check(i): a coordinator with a higher id moves first. This node waits on the timer `merge`.
struct GivingWay {
  NodeSet found;
};
MUSTER_DESCRIBE(GivingWay, found);

/// Waiting on the timer `retry`: in Normal before Merge(i, found), in Election before the
/// reorganization of Recovery(i).
struct BackingOff {
  NodeSet found;
};
MUSTER_DESCRIBE(BackingOff, found);

/// Merge(i, K): Invitation was sent to the coordinators found and to this node's former members.
/// Then this node waits a reasonable time for Accepts, on the timer `accepts`, and for its own
/// stop.
struct Inviting {
  Calls invited;
  Queue not_invited;
  NodeSet coming;           ///< the nodes that will send an Accept, as far as is known
  bool time_is_up = false;  ///< the reasonable time is over
};
MUSTER_DESCRIBE(Inviting, invited, not_invited, coming, time_is_up);

/// Recovery(i) and Merge(i, K): the application computes S(i).d.
struct Reorganizing {};
MUSTER_DESCRIBE(Reorganizing);

/// Merge(i, K): Ready was sent to all nodes in S(i).Up, and this node starts too.
struct MakingReady {
  Calls readied;
  Queue not_readied;
};
MUSTER_DESCRIBE(MakingReady, readied, not_readied);

/// Invitation(i, j, gn): the invitation was forwarded to this node's former members, and this node
/// stops.
struct Forwarding {
  Calls invited;
  Queue not_invited;
  NodeSet coming;  ///< the former members that accepted so far
};
MUSTER_DESCRIBE(Forwarding, invited, not_invited, coming);

/// Invitation(i, j, gn): Accept was sent to the new coordinator.
struct Accepting {
  CallNumber call;
  NodeId node;
};
MUSTER_DESCRIBE(Accepting, call, node);

/// Timeout(i): AreYouThere(gn, i) was sent to the coordinator. The fields keep the contents of that
/// question.
struct Probing {
  CallNumber call;
  NodeId node;
  GroupNumber group;
  Status status{};
};
MUSTER_DESCRIBE(Probing, call, node, group, status);

/// This node takes no part in Merges, because too many others differ (docs/decisions/differing.md).
struct Outvoted {};
MUSTER_DESCRIBE(Outvoted);

using Procedure = std::variant<Idle, Ceasing, Checking, GivingWay, BackingOff, Inviting,
                               Reorganizing, MakingReady, Forwarding, Accepting, Probing, Outvoted>;

/// A Ready that this node will answer when its application has started.
struct Owed {
  NodeId to;
  CallNumber call;
};
MUSTER_DESCRIBE(Owed, to, call);

/// Everything that a node knows in one life. A node that has not recovered yet has a State{}.
struct State : Common {
  using Base = Common;

  // The paper's state vector S(i); s, d, g and counter are in Common.
  std::optional<NodeId> c;
  Members up;  ///< S(i).Up, with the holdings of each member

  // The procedure that runs, and the calls that this node will answer.
  Procedure procedure;
  std::vector<Owed> owed;

  // Timers.
  bool check_armed = false;
  unsigned retry_level{};   ///< Merges in a row that formed no group; counted up to four
  unsigned quiet_checks{};  ///< Checks in a row that found nothing; counted up to ten
};
MUSTER_DESCRIBE(State, s, c, d, up, g, counter, application, ticket, report, failed_hooks,
                failed_in_company, procedure, owed, leaving, left, safe, seen, instances, calls,
                check_armed, coordinator_armed, retry_level, quiet_checks, met);

/// Applies one event to a node: changes `state` and returns the actions, in order.
Actions step(const Config& config, State& state, const Event& event);

/// The part of the state that others may see. `before` is the view before the event, if known.
View view(const Config& config, const State& state, const View& before = {});

/// True while a procedure of this node waits for the answer to this call. A host gives up all calls
/// for which this is false.
bool awaits(const State& state, CallNumber call);

}  // namespace invitation
}  // namespace muster

MUSTER_COMPILED_ONCE(muster::invitation::State);
