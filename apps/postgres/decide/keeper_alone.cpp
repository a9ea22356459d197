// With a witness: a primary that no node follows acknowledges commits alone, until another node's
// log is complete again.
//
// The invariant: the members always know at least one node that has every acknowledged commit. Each
// node that they believe to have every acknowledged commit does have it. So to go on alone, and to
// wait for copies again, a primary needs an election, which puts a promise (values.hpp) into the
// safe storage of all members. A primary stops waiting for copies only after all members know that
// only its log is sure to have every acknowledged commit. The members are told that another log is
// complete again only after it is complete.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

// Acknowledges commits alone only once all members know that only this node's log is sure to have
// every acknowledged commit. If this node did so earlier and then failed, the other members could
// choose a node that lacks some of these commits.
void KeeperTurn::go_on_alone() {
  if (k_.place->all_have_it || !stands(Line::promise_is_known_first)) return acknowledge_alone();
  k_.wait = EveryMember{};
}

void KeeperTurn::on_event(const AllHaveIt& it) {
  if (!k_.place || k_.place->group != it.group) return;
  k_.place->all_have_it = true;
  if (awaits<EveryMember>()) acknowledge_alone();
}

void KeeperTurn::look_after_copies() {
  if (k_.place->choice.is_alone()) return await_follower();
  await_no_follower();
}

// Makes commits wait for a copy again. This takes three steps, in this order. First, the
// acknowledger ends (Demand). Second, the other node flushes all log that was written before that
// (LastBefore, DemandCopied). Third, an election tells all members (say_demanded). If the second
// step came before the first, the acknowledger could still acknowledge a commit after the position
// up to which the other node has flushed.
void KeeperTurn::demand() {
  if (!stands(Line::demand_is_in_force)) return take_last_before();
  order(EndAcknowledger{}, Demand{});
}

void KeeperTurn::on_result(const LastBefore&, const Kicked& last) {
  if (!stands(Line::demand_is_copied)) return say_demanded();
  order(AwaitCopies{last.end, true}, DemandCopied{last.end});
}

void KeeperTurn::say_demanded() {
  k_.demanded = true;
  tell(WantElection{"another node has all commits again"});
}

// Called if the other node did not flush everything. The promise still names this node alone, so a
// wait would only block writers.
void KeeperTurn::relax() {
  order(Acknowledge{}, Relaxing{});
}

}  // namespace muster::postgres
