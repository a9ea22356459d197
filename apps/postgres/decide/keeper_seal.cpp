// `stop`: the seal, and the report.
//
// A seal has to guarantee that this node no longer takes part in any acknowledgement. Without this
// guarantee, a commit could be acknowledged after the reports that should include the commit. A
// sealed primary has no slot for any standby, and no walsender that still serves one, so no standby
// acknowledges for it. A sealed standby has no walreceiver left, so it flushes nothing more for a
// primary. A node that cannot be sealed in time
// is shut down, which has the same effect, and reports nothing.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

void KeeperTurn::seal() {
  new_course();
  if (k_.runs == Runs::nothing) return begin();
  order(Configure{Conf{}}, Seal{});
}

void KeeperTurn::on_result(const Seal&, const Configured&) {
  if (k_.runs == Runs::standby) return order(FinishReplay{}, ReplayEnd{});
  order(CloseGate{}, Gate{});
}

void KeeperTurn::on_result(const SealedHolding&, const Seen& seen) {
  k_.holds = seen.holding;
  if (seen.at_least) k_.at_least = seen.at_least;
  k_.holds->hands_over_to = k_.hands_over_to;
  if (k_.demanded) k_.holds->demanded = settings_.copies.nodes;
  k_.holds->unfollowed = k_.unfollowed;
  rest();
  if (!k_.is_resyncing() && has_lost()) return lose();
  if (k_.stop_owed && k_.unfit) return report(as_held(*k_.holds));
  if (k_.stop_owed) return report(*k_.holds);
  if (k_.is_resyncing()) return read_lineage(false);
  if (k_.place) take_place();
}

bool KeeperTurn::has_lost() const {
  return k_.at_least && is_below(*k_.holds, *k_.at_least) && stands(Line::restored_does_not_count);
}

// Called if this node has less data than it once had. Commits that it acknowledged may be missing,
// so the node must not count towards R: otherwise R reports could all lack such a commit. An empty
// note on disk records the loss until a clone has replaced the data.
void KeeperTurn::lose() {
  k_.note = Note{};
  if (k_.place && k_.place->choice.primary) k_.source = source();
  if (k_.stop_owed) report(reported_while_resyncing());
  note();
}

void KeeperTurn::shut_down(bool overdue) {
  new_course();
  order(End{Shutdown::immediate}, Ending{overdue});
}

void KeeperTurn::on_result(const Ending& wait, const Ended&) {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  if (k_.is_resyncing()) return read_lineage(true);
  if (wait.overdue && k_.stop_owed) report({});
  begin();
}

void KeeperTurn::report(const Evidence& evidence) {
  k_.stop_owed = false;
  k_.reported_data = std::holds_alternative<Holding>(evidence);
  tell(GiveReport{evidence});
}

Evidence KeeperTurn::reported_while_resyncing() const {
  if (!k_.note || !k_.note->held || !stands(Line::held_counts)) return {};
  const Held& held = *k_.note->held;
  if (stands(Line::held_is_not_chosen)) return held;
  return Holding{held.system, held.term, held.lsn, held.term.timeline, false};
}

}  // namespace muster::postgres
