#pragma once

#include <muster/detail/protocol/node_state.hpp>

#include <map>
#include <variant>
#include <vector>

/// The Invitation algorithm of the paper (section 4), as docs/decisions/invitation.md says that
/// Muster ships it. Nobody is forced: coordinators invite each other, and several groups may be at
/// work at once.

namespace MUSTER_EXPORT muster {
namespace invitation {

using muster::operator==;

/// The calls of one wait that are not answered yet.
using Calls = std::map<CallNumber, NodeId>;
/// Nodes in the order in which they are called.
using Queue = std::vector<NodeId>;

// --- Where a procedure waits: one for each CALL of the paper, and our few more
// ------------------------

/// None of this node's procedures runs.
struct Idle {};
MUSTER_DESCRIBE(Idle);

/// Recovery(i): the application ceases.
struct Ceasing {};
MUSTER_DESCRIBE(Ceasing);

/// Check(i): AreYouCoordinator to all others.
struct Checking {
  Calls asked;
  Queue not_asked;
  NodeSet found;  ///< K: who has said Yes
  NodeSet lost;   ///< members that did not answer, or are in another group by now
};
MUSTER_DESCRIBE(Checking, asked, not_asked, found, lost);

/// Check(i): a coordinator with a higher id is to move first; waiting on the timer `merge`.
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

/// Merge(i, K): Invitation to the coordinators found and to the own old members; then the
/// reasonable time for Accepts, on the timer `accepts`, and the own stop.
struct Inviting {
  Calls invited;
  Queue not_invited;
  NodeSet coming;           ///< who will send an Accept, as far as is known
  bool time_is_up = false;  ///< the reasonable time
};
MUSTER_DESCRIBE(Inviting, invited, not_invited, coming, time_is_up);

/// Recovery(i) and Merge(i, K): the application computes S(i).d.
struct Reorganizing {};
MUSTER_DESCRIBE(Reorganizing);

/// Merge(i, K): Ready to all in S(i).Up, and the own start.
struct MakingReady {
  Calls readied;
  Queue not_readied;
};
MUSTER_DESCRIBE(MakingReady, readied, not_readied);

/// Invitation(i, j, gn): forwarded to the old members; and the own stop.
struct Forwarding {
  Calls invited;
  Queue not_invited;
  NodeSet coming;  ///< who of them has said so
};
MUSTER_DESCRIBE(Forwarding, invited, not_invited, coming);

/// Invitation(i, j, gn): Accept to the new coordinator.
struct Accepting {
  CallNumber call;
  NodeId node;
};
MUSTER_DESCRIBE(Accepting, call, node);

/// Timeout(i): AreYouThere(gn, i) to the coordinator, and what it was asked about.
struct Probing {
  CallNumber call;
  NodeId node;
  GroupNumber group;
  Status status{};
};
MUSTER_DESCRIBE(Probing, call, node, group, status);

/// Taking no part: too many others differ (docs/decisions/differing.md).
struct Outvoted {};
MUSTER_DESCRIBE(Outvoted);

using Procedure = std::variant<Idle, Ceasing, Checking, GivingWay, BackingOff, Inviting,
                               Reorganizing, MakingReady, Forwarding, Accepting, Probing, Outvoted>;

/// A Ready that this node will answer when the application has started.
struct Owed {
  NodeId to;
  CallNumber call;
};
MUSTER_DESCRIBE(Owed, to, call);

/// Everything that a node knows in one life. A node that has not recovered yet has a State{}.
struct State : Common {
  using Base = Common;

  // The paper's state vector S(i): s, d, g and counter are in Common.
  std::optional<NodeId> c;
  Members up;  ///< S(i).Up, with what its members hold

  // The procedure that runs, and what it owes others.
  Procedure procedure;
  std::vector<Owed> owed;

  // Timers.
  bool check_armed = false;
  unsigned retry_level{};   ///< Merges in a row that came to nothing, up to four
  unsigned quiet_checks{};  ///< Checks in a row that found nothing, up to ten
};
MUSTER_DESCRIBE(State, s, c, d, up, g, counter, application, ticket, report, failed_hooks,
                failed_in_company, procedure, owed, leaving, left, safe, seen, instances, calls,
                check_armed, coordinator_armed, retry_level, quiet_checks, met);

/// What one event makes of a node: changes `state` and returns what is to be done, in order.
Actions step(const Config& config, State& state, const Event& event);

/// What others may see of the state; `before` is what they saw before, where that is known.
View view(const Config& config, const State& state, const View& before = {});

/// True while a procedure of this node waits for the answer to that call; a host forgets the
/// others.
bool awaits(const State& state, CallNumber call);

}  // namespace invitation
}  // namespace muster

MUSTER_COMPILED_ONCE(muster::invitation::State);
