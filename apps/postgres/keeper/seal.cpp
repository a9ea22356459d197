// Stop: sealing, and the report.

#include "apps/postgres/keeper/turn.hpp"

namespace muster::postgres {

void Turn::seal() {
  new_course();
  if (k_.runs == Runs::nothing) return begin();
  Conf sealed;
  order(Configure{sealed}, Seal{});
}

// On a primary new connections show the sealed names before walsenders are ended: the postmaster
// would fork one with the names of before.
void Turn::ended(const Seal&, const Configured&) {
  if (k_.runs == Runs::standby) return order(FinishReplay{}, ReplayEnd{});
  if (!stands(Line::shown_before_ended)) return end_walsenders();
  order(ShowNames{Names::sealed}, SealShown{});
}

void Turn::ended(const SealedHolding&, const Seen& seen) {
  k_.holds = seen.holding;
  k_.holds->hands_over_to = k_.hands_over_to;
  rest();
  if (k_.stop_owed) return report(*k_.holds);
  if (k_.is_mending()) return read_lineage(false);
  if (k_.place) take_place();
}

void Turn::shut_down(bool overdue) {
  new_course();
  order(End{Shutdown::immediate}, Ending{overdue});
}

void Turn::ended(const Ending& wait, const Ended&) {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  if (k_.is_mending()) return read_lineage(true);
  if (wait.overdue && k_.stop_owed) report({});
  begin();
}

void Turn::report(const Evidence& evidence) {
  k_.stop_owed = false;
  k_.reported_data = std::holds_alternative<Holding>(evidence);
  tell(GiveReport{evidence});
}

Evidence Turn::reported_while_mended() const {
  if (!k_.held || !stands(Line::held_counts)) return {};
  if (stands(Line::held_is_not_chosen)) return *k_.held;
  return Holding{k_.held->system, k_.held->term, k_.held->lsn, k_.held->term.timeline, false};
}

}  // namespace muster::postgres
