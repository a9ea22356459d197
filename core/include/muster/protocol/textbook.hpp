#pragma once

#include <muster/detail/protocol/node_state.hpp>

#include <map>
#include <variant>
#include <vector>

/// The Bully as textbooks and encyclopedias describe it, with three messages (Election, Answer,
/// Coordinator) and two timeouts. This algorithm is not the paper's. Muster contains this version
/// for comparison, to show what it lacks. No node stops its work before the result is known. The
/// Coordinator message has no answer, and every node that sends one is believed.

namespace MUSTER_EXPORT muster {
namespace textbook {

using muster::operator==;

/// Calls that are not answered yet, with the called nodes.
using Calls = std::map<CallNumber, NodeId>;

// --- The states of the election

/// This node takes part in no election.
struct Idle {};
MUSTER_DESCRIBE(Idle);

/// Election was sent to all nodes that are more important. The first timeout, T, is for their
/// Answers.
struct Asking {
  Calls asked;
};
MUSTER_DESCRIBE(Asking, asked);

/// A more important node has answered. The second timeout, on the timer `coordinator`, is for its
/// Coordinator message.
struct AwaitingCoordinator {};
MUSTER_DESCRIBE(AwaitingCoordinator);

/// This node has won: its application stops its work.
struct Ceasing {};
MUSTER_DESCRIBE(Ceasing);

/// This node has won: its application computes the definition.
struct Reorganizing {};
MUSTER_DESCRIBE(Reorganizing);

/// The Coordinator message was sent or received: the application is stopped and started.
struct Installing {};
MUSTER_DESCRIBE(Installing);

/// AreYouThere was sent to the coordinator. Textbooks do not say how a node notices that the
/// coordinator has failed.
struct Probing {
  CallNumber call;
  NodeId node;
};
MUSTER_DESCRIBE(Probing, call, node);

/// A hook has failed. This node waits on the timer `retry` before the next election.
struct BackingOff {};
MUSTER_DESCRIBE(BackingOff);

/// This node takes no part in elections, because too many others differ
/// (docs/decisions/differing.md).
struct Outvoted {};
MUSTER_DESCRIBE(Outvoted);

using Procedure = std::variant<Idle, Asking, AwaitingCoordinator, Ceasing, Reorganizing, Installing,
                               Probing, BackingOff, Outvoted>;

/// Everything that a node knows in one life. A node that has not recovered yet has a State{}.
struct State : Common {
  using Base = Common;

  std::optional<NodeId> c;  ///< the node that this one believes to be coordinator
  Procedure procedure;
  Calls announced;  ///< calls of the Coordinator messages sent within the last T; these messages
                    ///< have no answer
};
MUSTER_DESCRIBE(State, s, c, d, g, application, ticket, report, failed_hooks, failed_in_company,
                procedure, announced, leaving, left, safe, seen, instances, counter, calls,
                coordinator_armed, met);

/// Applies one event to a node: changes `state` and returns the actions, in order.
Actions step(const Config& config, State& state, const Event& event);

/// The part of the state that others may see. `before` is the view before the event, if known.
View view(const Config& config, const State& state, const View& before = {});

/// True while this node waits for the answer to this call, or for the end of its bound.
bool awaits(const State& state, CallNumber call);

/// True when `i` is more important than `j`: by Config::importance, and by id if they are equal
/// there.
bool is_more_important(const Config& config, NodeId i, NodeId j);

}  // namespace textbook
}  // namespace muster

MUSTER_COMPILED_ONCE(muster::textbook::State);
