// A primary gives up its role in order, because its node leaves or another node is to be primary.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

// The primary shuts down without a seal. The standbys receive all log that the primary writes,
// including the last record. So all nodes hold the same log and no node has to be rewound. Some
// standbys may be sealed for a later group during the shutdown. A sealed standby acknowledges
// nothing more for this primary, as if the primary had been killed. This loses no acknowledged
// commit.
void KeeperTurn::drain(std::optional<NodeId> heir) {
  new_course();
  order(End{Shutdown::fast}, Draining{heir});
}

void KeeperTurn::on_event(const HandOverAsked& asked) {
  const std::string refused = why_not(asked.to);
  tell(AnswerOwner{refused});
  if (refused.empty()) drain(asked.to);
}

std::string KeeperTurn::why_not(NodeId heir) const {
  if (!k_.open) return named(settings_.self) + " is not a primary that acknowledges commits";
  if (heir == settings_.self) return named(heir) + " is the primary already";
  if (!settings_.copies.nodes.contains(heir)) return named(heir) + " has no database";
  if (k_.place->choice.is_alone()) return named(heir) + " does not have all commits yet";
  return {};
}

// A node that leaves reports nothing, since no node would receive the report. A node that hands
// over becomes a sealed standby before the election that it asks for. In that election this node
// holds as much as the other nodes, and its report names the node that it hands over to.
void KeeperTurn::on_result(const Draining& wait, const Ended&) {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  if (!wait.heir) return report({});
  k_.hands_over_to = wait.heir;
  if (!k_.stop_owed)
    tell(WantElection{"this node hands over to node " + std::to_string(wait.heir->value)});
  begin();
}

// Called when the orderly shutdown takes too long, because a standby does not answer or there is
// much to flush. Shuts PostgreSQL down as in a crash.
void KeeperTurn::does_not_drain() {
  if (!k_.stop_owed) tell(WantElection{"the PostgreSQL of the primary is shut down at once"});
  shut_down(k_.stop_owed);
}

}  // namespace muster::postgres
