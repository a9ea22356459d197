// Start, as another: following, and being mended to follow.

#include "apps/postgres/decide/keeper_turn.hpp"

#include <variant>

namespace muster::postgres {

// A primary of before goes down at once: a fast shutdown would write one more record.
void KeeperTurn::follow() {
  if (k_.runs == Runs::primary) {
    end_start();
    return shut_down(false);
  }
  const bool is_prefix = k_.place->choice.prefix.contains(settings_.self);
  if (k_.runs == Runs::standby && is_prefix && !k_.anew)
    return order(Configure{conf(false)}, Following{});
  end_start();
  if (k_.begins_not) return begin();
  if (k_.runs == Runs::standby && !k_.holds) return look();
  read_lineage(false);
}

void KeeperTurn::ended(const Following&, const Configured&) {
  k_.follows = true;
  k_.unfit = false;
  k_.holds.reset();
  rest();
  end_start();
}

// Its trouble is no reason for an election: it goes the longer way.
void KeeperTurn::failed(const Following&, const Failed&) {
  end_start();
  read_lineage(false);
}

void KeeperTurn::read_lineage(bool clone) {
  const Source of = source();
  order(ReadLineage{of.node, of.group}, PrimaryLineage{clone});
}

void KeeperTurn::ended(const PrimaryLineage& wait, const LineageRead& read) {
  Way way = Way::clone;
  const bool must_clone = wait.clone || k_.anew || k_.counts_for_nothing();
  if (!must_clone && k_.runs == Runs::standby && k_.holds)
    way = way_to_follow(*k_.holds, read.lineage);
  if (way != Way::follow) return mend(way);
  if (k_.is_mending()) return take_mending_name();
  order(Configure{conf(false)}, Following{});
}

// --- Mending: beside groups, until its source is no primary any more
// ------------------------------------------------------------------------------------

void KeeperTurn::came(const RejoinAsked&) {
  const std::string refused = why_no_rejoin();
  tell(AnswerOwner{refused});
  if (!refused.empty()) return;
  k_.anew = true;
  if (!awaits<SealBeforeRecovery, Recovery, Ending>()) seal();  // those end in a sealed standby
}

std::string KeeperTurn::why_no_rejoin() const {
  const std::string self = "node " + std::to_string(settings_.self.value);
  if (writes()) return self + " is the primary: let another be it first, with switch-over";
  if (!k_.place || !k_.place->choice.primary)
    return "nobody writes now, so there is no primary to clone from";
  if (k_.is_mending()) return self + " is being mended already";
  return {};
}

// What copies from that source goes on; what has its copy is told anew in which group.
void KeeperTurn::follow_primary_while_mended() {
  const auto primary = k_.place->choice.primary;
  if (primary == settings_.self) return forget_mending();
  end_start();
  if (awaits<NoteGone>()) return;
  if (!primary) return look_again();
  const bool from_it = k_.source && k_.source->node == *primary;
  if (from_it && awaits<EndBeforeMending, Mend>()) return;
  k_.source = Source{*primary, k_.place->group};
  if (awaits<HeldNoted>()) return;
  if (k_.runs == Runs::standby) return seal();
  const bool recovers = awaits<MendingName, MendedRecovery>();
  new_course();
  if (from_it && recovers) return take_mending_name();
  read_lineage(true);
}

// Who does not know what it held counts for nothing: two such, and nobody would ever write again.
// Perhaps what is there begins this time.
void KeeperTurn::look_again() {
  if (k_.note || awaits<MendedRecovery>()) return;
  k_.source.reset();
  seal();
}

// Only where the line is struck that it is not chosen.
void KeeperTurn::forget_mending() {
  k_.note.reset();
  k_.source.reset();
  new_course();
  write();
}

// From here on it reports what it held, until the note is known to be gone: whether the note is
// written is not known while it is being written.
void KeeperTurn::mend(Way way) {
  const bool noted = k_.is_mending() || !k_.holds;
  k_.source = source();
  if (noted) return end_before(way);
  k_.note = Note{as_held(*k_.holds)};
  note();
}

// Who has no source yet waits for its place.
void KeeperTurn::ended(const HeldNoted&, const Noted&) {
  if (k_.source) read_lineage(false);
}

void KeeperTurn::ended(const EndBeforeMending& wait, const Ended&) {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  mend_by(wait.way);
}

void KeeperTurn::mend_by(Way way) {
  const NodeId from = k_.source->node;
  if (way == Way::rewind) return order(Rewind{from}, Mend{way});
  order(Clone{from}, Mend{way});
}

// Slots are of the group that is: where its source is primary in a later one by now, of that.
void KeeperTurn::ended(const Mend&, const Mended&) {
  k_.anew = false;
  if (k_.place && k_.place->choice.primary == k_.source->node) k_.source->group = k_.place->group;
  take_mending_name();
}

void KeeperTurn::failed(const Mend& wait, const Failed&) {
  if (wait.way == Way::rewind) return mend_by(Way::clone);
  read_lineage(true);
}

void KeeperTurn::ended(const MendingName&, const Configured&) {
  if (k_.runs == Runs::nothing) return order(Begin{}, MendedRecovery{});
  order(AwaitStreaming{}, Streaming{});
}

void KeeperTurn::ended(const MendedRecovery&, const Began&) {
  runs_as_standby();
  rest();
  if (k_.place && !k_.place->choice.primary && !k_.note) return look_again();
  order(AwaitStreaming{}, Streaming{});
}

void KeeperTurn::failed(const MendedRecovery&, const Failed& failure) {
  does_not_run(failure);
  if (k_.begins_not) return order(Begin{}, MendedRecovery{});
  read_lineage(true);
}

// Only now its name counts: a new life before that would report less than it has acknowledged.
void KeeperTurn::ended(const NoteGone&, const Noted&) {
  const auto source = k_.source;
  k_.note.reset();
  k_.source.reset();
  k_.at_least.reset();
  k_.reported_data = k_.in_vain = false;
  if (k_.runs == Runs::nothing) return begin();
  const bool follows = k_.place && source && k_.place->choice.primary == source->node &&
                       k_.place->group == source->group;
  if (follows) return order(Configure{conf(false)}, Following{});
  seal();  // what it has received since may not be replayed yet
}

// --- For those who watch
// ------------------------------------------------------------------------------------

void KeeperTurn::show() {
  Show now;
  now.primary = k_.runs == Runs::primary && writes();
  now.open = k_.open;
  now.replica = k_.follows && k_.runs == Runs::standby;
  now.doing = std::visit([](const auto& awaited) { return awaited.doing; }, k_.wait);
  if (const auto* mend = std::get_if<Mend>(&k_.wait))
    now.doing = mend->way == Way::rewind ? "is rewound" : "is cloned";
  if ((awaits<TheNode>() || k_.open) && k_.place) now.doing = k_.place->choice.why;
  if (k_.begins_not) now.doing = "does not begin: " + *k_.begins_not;
  if (now == k_.shown) return;
  k_.shown = now;
  tell(now);
}

}  // namespace muster::postgres
