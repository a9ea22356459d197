#pragma once

#include <muster/detail/protocol/node_state.hpp>

#include <map>
#include <variant>
#include <vector>

/// The Bully as textbooks and encyclopedias give it, with its three messages Election, Answer and
/// Coordinator and its two timeouts. For comparison: it is not the paper's algorithm, and what it
/// lacks is the point. Nobody halts before the result is known, nobody says whether it took the
/// Coordinator message, and whoever sends one is believed.

namespace MUSTER_EXPORT muster {
namespace textbook {

using muster::operator==;

/// Calls that are not answered yet.
using Calls = std::map<CallNumber, NodeId>;

// --- Where the election stands

/// This node takes part in no election.
struct Idle {};
MUSTER_DESCRIBE(Idle);

/// Election was sent to all that are more important; the first timeout, T, is for their Answers.
struct Asking {
  Calls asked;
};
MUSTER_DESCRIBE(Asking, asked);

/// A more important node has answered; the second timeout, on the timer `coordinator`, is for the
/// Coordinator message.
struct AwaitingCoordinator {};
MUSTER_DESCRIBE(AwaitingCoordinator);

/// This node has won: its application ceases.
struct Ceasing {};
MUSTER_DESCRIBE(Ceasing);

/// This node has won: its application computes the definition.
struct Reorganizing {};
MUSTER_DESCRIBE(Reorganizing);

/// The Coordinator message was sent, or came: the application is stopped and started.
struct Installing {};
MUSTER_DESCRIBE(Installing);

/// AreYouThere to the coordinator. Textbooks leave open how its failure is noticed.
struct Probing {
  CallNumber call;
  NodeId node;
};
MUSTER_DESCRIBE(Probing, call, node);

/// A hook has failed: waiting on the timer `retry` before the next election.
struct BackingOff {};
MUSTER_DESCRIBE(BackingOff);

/// Taking no part: too many others differ (docs/decisions/differing.md).
struct Outvoted {};
MUSTER_DESCRIBE(Outvoted);

using Procedure = std::variant<Idle, Asking, AwaitingCoordinator, Ceasing, Reorganizing, Installing,
                               Probing, BackingOff, Outvoted>;

/// Everything that a node knows in one life. A node that has not recovered yet has a State{}.
struct State : Common {
  using Base = Common;

  std::optional<NodeId> c;  ///< who is believed to be coordinator
  Procedure procedure;
  Calls announced;  ///< Coordinator messages of the last T: nobody answers them
};
MUSTER_DESCRIBE(State, s, c, d, g, application, ticket, report, failed_hooks, failed_in_company,
                procedure, announced, leaving, left, safe, seen, instances, counter, calls,
                coordinator_armed, met);

/// What one event makes of a node: changes `state` and returns what is to be done, in order.
Actions step(const Config& config, State& state, const Event& event);

/// What others may see of the state; `before` is what they saw before, where that is known.
View view(const Config& config, const State& state, const View& before = {});

/// True while this node waits for the answer to that call, or for the end of its bound.
bool awaits(const State& state, CallNumber call);

/// True when `i` is more important than `j`: by Config::importance, and of equals by id.
bool is_more_important(const Config& config, NodeId i, NodeId j);

}  // namespace textbook
}  // namespace muster

MUSTER_COMPILED_ONCE(muster::textbook::State);
