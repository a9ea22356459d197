// Being primary no more, in order: the node leaves, or another is to be primary.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

// It is not sealed: its standbys get all that it writes, and nobody lacks anything afterwards.
// Whoever is sealed meanwhile for a later group acknowledges nothing for it, and from then on it is
// as with a primary that was killed.
void KeeperTurn::drain(std::optional<NodeId> heir) {
  new_course();
  order(End{Shutdown::fast}, Draining{heir});
}

void KeeperTurn::came(const HandOverAsked& asked) {
  const std::string refused = why_not(asked.to);
  tell(AnswerOwner{refused});
  if (refused.empty()) drain(asked.to);
}

std::string KeeperTurn::why_not(NodeId heir) const {
  const auto named = [](NodeId node) { return "node " + std::to_string(node.value); };
  if (!k_.open) return named(settings_.self) + " is no primary that is written to";
  if (heir == settings_.self) return named(heir) + " is the primary already";
  if (!settings_.copies.nodes.contains(heir)) return named(heir) + " has no database";
  if (k_.place->choice.is_alone()) return named(heir) + " does not have all commits yet";
  return {};
}

// Who leaves reports to nobody. Who hands over is a sealed standby in the election that it wants,
// with as much as the others, and says to whom.
void KeeperTurn::ended(const Draining& wait, const Ended&) {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  if (!wait.heir) return report({});
  k_.hands_over_to = wait.heir;
  if (!k_.stop_owed)
    tell(WantElection{"this node hands over to node " + std::to_string(wait.heir->value)});
  begin();
}

// A standby does not answer, or there is much to be flushed: as in a crash, then.
void KeeperTurn::does_not_drain() {
  if (!k_.stop_owed) tell(WantElection{"PostgreSQL, which was primary, goes down at once"});
  shut_down(k_.stop_owed);
}

}  // namespace muster::postgres
