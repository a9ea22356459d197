// The keeper's hooks, events that no order caused, and the beginning.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

bool begins(const Keeper& keeper) {
  return std::holds_alternative<SealBeforeRecovery>(keeper.wait) ||
         std::holds_alternative<Recovery>(keeper.wait);
}

Orders step(const Settings& settings, Keeper& keeper, const KeeperEvent& event) {
  return KeeperTurn(settings, keeper).take(event);
}

// For each event that may end a wait, KeeperTurn has a function. If such a function is missing, the
// code does not compile.
Orders KeeperTurn::take(const KeeperEvent& event) {
  const Wait wait = k_.wait;
  std::visit(
      [&]<class EventType>(const EventType& what) {
        if constexpr (boost::mp11::mp_contains<OfNoRound, EventType>::value)
          on_event(what);
        else if (event.round == k_.round)
          std::visit([&](const auto& awaited) { end(awaited, what); }, wait);
      },
      event.what);
  show();
  return std::move(orders_);
}

template <class Awaited, class EventType>
void KeeperTurn::end(const Awaited& awaited, const EventType& what) {
  if constexpr (may_end<Awaited, EventType>) {
    rest();
    if constexpr (std::is_same_v<EventType, Failed>)
      failed(awaited, what);
    else
      on_result(awaited, what);
  }
}

// --- The hooks, and events that no order caused

// If the rewind or clone of a node was interrupted, its data directory may be half written, so
// PostgreSQL is not started. The node can take part at once, because its note contains its earlier
// holding.
void KeeperTurn::on_event(const Loaded& life) {
  k_ = Keeper{};
  k_.note = life.note;
  k_.at_least = life.at_least;
  if (!k_.is_resyncing()) begin();
}

// If the present wait ends with a sealed standby anyway, the keeper continues it, and then reports.
// A promotion cannot be undone, and it takes less time than starting PostgreSQL again.
void KeeperTurn::on_event(const StopCalled& stop) {
  k_.place.reset();
  k_.start_owed = false;
  k_.stop_owed = true;
  if (k_.is_resyncing()) return report(reported_while_resyncing());
  if (awaits<SealBeforeRecovery, Recovery, Ending, Draining, Promotion>()) return;
  if (stop.leaving && k_.runs == Runs::primary) return drain({});
  seal();
}

void KeeperTurn::on_event(const Overdue&) {
  if (awaits<Draining>()) return does_not_drain();
  if (!k_.stop_owed) return;
  if (awaits<SealBeforeRecovery, Recovery>()) return report({});
  shut_down(true);
}

void KeeperTurn::on_event(const StartCalled& start) {
  k_.place = Place{start.group, start.choice};
  k_.hands_over_to.reset();
  k_.demanded = k_.unfollowed = false;
  k_.start_owed = true;
  if (k_.is_resyncing()) return follow_primary_while_resyncing();
  if (awaits<TheNode>()) return take_place();
  if (!writes()) end_start();  // the present step ends in go_on(), which calls follow()
}

void KeeperTurn::on_event(const Died& death) {
  if (awaits<SealBeforeRecovery, Recovery>()) {
    new_course();
    return does_not_begin({death.why});
  }
  k_.runs = Runs::nothing;
  k_.holds.reset();
  if (k_.is_resyncing()) return died_while_resyncing();
  if (awaits<Ending, Draining>()) return;
  new_course();
  if (!writes())
    end_start();  // PostgreSQL starts again, and then follows
  else if (k_.start_owed)
    end_start("PostgreSQL has ended: " + death.why);
  else
    tell(WantElection{"the PostgreSQL of the primary has ended: " + death.why});
  begin();
}

void KeeperTurn::died_while_resyncing() {
  if (awaits<TheNode, HeldNoted, EndBeforeResync, Resync, NoteGone>()) return;
  new_course();
  if (k_.source) read_lineage(true);
}

// --- The beginning: PostgreSQL starts as a sealed standby

void KeeperTurn::begin() {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  order(Configure{Conf{}}, SealBeforeRecovery{});
}

void KeeperTurn::on_result(const Recovery&, const Began&) {
  runs_as_standby();
  go_on();
}

void KeeperTurn::runs_as_standby() {
  k_.runs = Runs::standby;
  k_.begins_not.reset();
}

// If PostgreSQL ends before it reads its data, the reason is its port, its settings or its key
// files. PostgreSQL would not start with other data either, so the node keeps its data.
void KeeperTurn::does_not_run(const Failed& failure) {
  k_.runs = Runs::nothing;
  k_.begins_not.reset();
  if (failure.before_data) k_.begins_not = failure.why;
}

void KeeperTurn::does_not_begin(const Failed& failure) {
  does_not_run(failure);
  rest();
  if (k_.stop_owed) return report({});
  if (writes()) {
    if (k_.start_owed) end_start("PostgreSQL does not start: " + failure.why);
    return;
  }
  if (!k_.place) return;
  end_start();
  if (k_.place->choice.primary && !k_.begins_not) return read_lineage(true);
  begin();  // tries again, because the other nodes may need this data
}

// PostgreSQL is now a sealed standby. Continues with the hook that waits for this, if any.
void KeeperTurn::go_on() {
  if (k_.stop_owed) return look();
  if (k_.place) return take_place();
  rest();
}

void KeeperTurn::take_place() {
  rest();
  if (!k_.place->choice.primary) return nobody_writes();
  if (writes()) return write();
  follow();
}

void KeeperTurn::nobody_writes() {
  end_start();
  if (k_.runs == Runs::nothing) return begin();
  k_.unfit = false;  // no other node can write either, so it tries again
  if (!k_.reported_data) tell(WantElection{"nobody writes, and this node has data now"});
}

// --- Helpers

Source KeeperTurn::source() const {
  if (k_.source) return *k_.source;
  return {*k_.place->choice.primary, k_.place->group};
}

Conf KeeperTurn::conf(bool counts) const {
  const Source of = source();
  return {false, of.node, counts, of.group};
}

void KeeperTurn::order(What what, const Wait& wait) {
  k_.wait = wait;
  tell(std::move(what));
}

void KeeperTurn::new_course() {
  ++k_.round.value;
  if (!awaits<TheNode>()) tell(Abandon{});
  rest();
  k_.open = k_.follows = false;
}

void KeeperTurn::end_start(std::string failed_because) {
  if (!k_.start_owed) return;
  k_.start_owed = false;
  tell(EndStart{std::move(failed_because)});
}

}  // namespace muster::postgres
