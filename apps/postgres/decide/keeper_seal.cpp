// Stop: sealing, and the report.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

void KeeperTurn::seal() {
  new_course();
  if (k_.runs == Runs::nothing) return begin();
  Conf sealed;
  order(Configure{sealed}, Seal{});
}

// On a primary new connections show the sealed names before walsenders are ended: the postmaster
// would fork one with the names of before.
void KeeperTurn::ended(const Seal&, const Configured&) {
  if (k_.runs == Runs::standby) return order(FinishReplay{}, ReplayEnd{});
  if (!stands(Line::shown_before_ended)) return end_walsenders();
  order(ShowNames{Names::sealed}, SealShown{});
}

void KeeperTurn::ended(const SealedHolding&, const Seen& seen) {
  k_.holds = seen.holding;
  k_.holds->hands_over_to = k_.hands_over_to;
  if (k_.demanded) k_.holds->demanded = settings_.copies.nodes;
  k_.holds->unfollowed = k_.unfollowed;
  rest();
  if (!k_.is_mending() && has_lost()) return lose();
  if (k_.stop_owed && k_.unfit) return report(as_held(*k_.holds));
  if (k_.stop_owed) return report(*k_.holds);
  if (k_.is_mending()) return read_lineage(false);
  if (k_.place) take_place();
}

bool KeeperTurn::has_lost() const {
  return k_.at_least && is_below(*k_.holds, *k_.at_least) &&
         stands(Line::restored_counts_for_nothing);
}

// Its data is not what this node had: of what it has acknowledged some may be missing.
void KeeperTurn::lose() {
  k_.note = Note{};
  if (k_.place && k_.place->choice.primary) k_.source = source();
  if (k_.stop_owed) report(reported_while_mended());
  note();
}

void KeeperTurn::shut_down(bool overdue) {
  new_course();
  order(End{Shutdown::immediate}, Ending{overdue});
}

void KeeperTurn::ended(const Ending& wait, const Ended&) {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  if (k_.is_mending()) return read_lineage(true);
  if (wait.overdue && k_.stop_owed) report({});
  begin();
}

void KeeperTurn::report(const Evidence& evidence) {
  k_.stop_owed = false;
  k_.reported_data = std::holds_alternative<Holding>(evidence);
  tell(GiveReport{evidence});
}

Evidence KeeperTurn::reported_while_mended() const {
  if (!k_.note || !k_.note->held || !stands(Line::held_counts)) return {};
  const Held& held = *k_.note->held;
  if (stands(Line::held_is_not_chosen)) return held;
  return Holding{held.system, held.term, held.lsn, held.term.timeline, false};
}

}  // namespace muster::postgres
