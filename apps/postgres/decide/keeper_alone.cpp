// With a witness: a primary that nobody follows goes on alone, until another's log is whole again.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

Names KeeperTurn::names() const {
  return k_.place->choice.is_alone() ? Names::alone : Names::open;
}

// Before all members know that its commits are nowhere else, others might choose another.
void KeeperTurn::go_on_alone() {
  if (k_.place->all_have_it || !stands(Line::promise_is_known_first)) return open();
  k_.wait = EveryMember{};
}

void KeeperTurn::came(const AllHaveIt& it) {
  if (!k_.place || k_.place->group != it.group) return;
  k_.place->all_have_it = true;
  if (awaits<EveryMember>()) open();
}

void KeeperTurn::look_after_copies() {
  if (k_.place->choice.is_alone()) return await_follower();
  await_no_follower();
}

// Each commit from now on is to be copied: then all before, and then all members are to know it.
void KeeperTurn::demand() {
  Conf open;
  open.names = Names::open;
  order(Configure{open}, Demand{});
}

void KeeperTurn::ended(const DemandShown&, const NamesShown&) {
  if (!stands(Line::demand_is_in_force)) return take_last_before();
  order(Checkpoint{}, DemandInForce{});
}

void KeeperTurn::ended(const LastBefore&, const Kicked& last) {
  if (!stands(Line::demand_is_copied)) return say_demanded();
  order(AwaitCopies{last.end, true}, DemandCopied{last.end});
}

void KeeperTurn::say_demanded() {
  k_.demanded = true;
  tell(WantElection{"another node has all commits again"});
}

// It did not come to that: what was promised is that commits are here alone.
void KeeperTurn::relax() {
  Conf alone;
  alone.names = Names::alone;
  order(Configure{alone}, Relaxing{});
}

}  // namespace muster::postgres
