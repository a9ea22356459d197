// The hooks, what comes by itself, and the beginning.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

bool begins(const Keeper& keeper) {
  return std::holds_alternative<SealBeforeRecovery>(keeper.wait) ||
         std::holds_alternative<Recovery>(keeper.wait);
}

Orders step(const Settings& settings, Keeper& keeper, const Happening& happening) {
  return KeeperTurn(settings, keeper).take(happening);
}

// Each wait has a function for each of its ends. If one is missing, this does not compile.
Orders KeeperTurn::take(const Happening& happening) {
  const Wait wait = k_.wait;
  std::visit(
      [&]<class Happened>(const Happened& what) {
        if constexpr (boost::mp11::mp_contains<OfNoRound, Happened>::value)
          came(what);
        else if (happening.round == k_.round)
          std::visit([&](const auto& awaited) { end(awaited, what); }, wait);
      },
      happening.what);
  show();
  return std::move(orders_);
}

template <class Awaited, class Happened>
void KeeperTurn::end(const Awaited& awaited, const Happened& what) {
  if constexpr (may_end<Awaited, Happened>) {
    rest();
    if constexpr (std::is_same_v<Happened, Failed>)
      failed(awaited, what);
    else
      ended(awaited, what);
  }
}

// --- The hooks, and what comes by itself
// ------------------------------------------------------------------------------------

// A node that is being mended takes part at once: what it held is known, and what stands there
// may be half of something.
void KeeperTurn::came(const Loaded& life) {
  k_ = Keeper{};
  k_.note = life.note;
  k_.at_least = life.at_least;
  if (!k_.is_mending()) begin();
}

// What ends in a sealed standby anyway is let end: a report comes of it. A promotion cannot be
// taken back, and takes less time than another beginning.
void KeeperTurn::came(const StopCalled& stop) {
  k_.place.reset();
  k_.start_owed = false;
  k_.stop_owed = true;
  if (k_.is_mending()) return report(reported_while_mended());
  if (awaits<SealBeforeRecovery, Recovery, Ending, Draining, Promotion>()) return;
  if (stop.leaving && k_.runs == Runs::primary) return drain({});
  seal();
}

void KeeperTurn::came(const Overdue&) {
  if (awaits<Draining>()) return does_not_drain();
  if (!k_.stop_owed) return;
  if (awaits<SealBeforeRecovery, Recovery>()) return report({});
  shut_down(true);
}

void KeeperTurn::came(const StartCalled& start) {
  k_.place = Place{start.group, start.choice};
  k_.hands_over_to.reset();
  k_.demanded = k_.unfollowed = false;
  k_.start_owed = true;
  if (k_.is_mending()) return follow_primary_while_mended();
  if (awaits<TheNode>()) return take_place();
  if (!writes()) end_start();  // what is still going on ends in go_on()
}

void KeeperTurn::came(const Died& death) {
  if (awaits<SealBeforeRecovery, Recovery>()) {
    new_course();
    return does_not_begin({death.why});
  }
  k_.runs = Runs::nothing;
  k_.holds.reset();
  if (k_.is_mending()) return died_while_mended();
  if (awaits<Ending, Draining>()) return;
  new_course();
  if (!writes())
    end_start();  // it begins again, and follows
  else if (k_.start_owed)
    end_start("PostgreSQL has ended: " + death.why);
  else
    tell(WantElection{"PostgreSQL, which was primary, has ended: " + death.why});
  begin();
}

void KeeperTurn::died_while_mended() {
  if (awaits<TheNode, HeldNoted, EndBeforeMending, Mend, NoteGone>()) return;
  new_course();
  if (k_.source) read_lineage(true);
}

// --- Beginning: a sealed standby, whatever it was
// ------------------------------------------------------------------------------------

void KeeperTurn::begin() {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  order(Configure{Conf{}}, SealBeforeRecovery{});
}

void KeeperTurn::ended(const Recovery&, const Began&) {
  runs_as_standby();
  go_on();
}

void KeeperTurn::runs_as_standby() {
  k_.runs = Runs::standby;
  k_.begins_not.reset();
}

// Its port, its settings or its files of keys: with other data it would begin no more than with
// its own, which is kept.
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
  begin();  // what it has may be what the others lack
}

// Where all that had to end has ended.
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
  k_.unfit = false;  // nobody else can: it tries again
  if (!k_.reported_data) tell(WantElection{"nobody writes, and this node has data now"});
}

// --- The words in which this is written
// ------------------------------------------------------------------------------------

Source KeeperTurn::source() const {
  if (k_.source) return *k_.source;
  return {*k_.place->choice.primary, k_.place->group};
}

Conf KeeperTurn::conf(bool mending) const {
  const Source of = source();
  return {Names::sealed, of.node, mending && stands(Line::mended_under_no_name), of.group};
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
