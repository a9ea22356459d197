// `start` of a node that is not the primary: it follows, or is rewound or cloned in order to
// follow.

#include "apps/postgres/decide/keeper_turn.hpp"

#include <variant>

namespace muster::postgres {

// A former primary is shut down as in a crash. A fast shutdown would write one more record. The new
// primary's log does not have that record, so the node would have to be rewound.
void KeeperTurn::follow() {
  if (k_.runs == Runs::primary) {
    end_start();
    return shut_down(false);
  }
  // If PostgreSQL has started again since the report, its log may be another, so it is looked at.
  const bool is_prefix =
      k_.place->choice.prefix.contains(settings_.self) && k_.holds &&
      (k_.holds->timeline == k_.holds->term.timeline || !stands(Line::prefix_by_term));
  if (k_.runs == Runs::standby && is_prefix && !k_.wants_clone) return follow_uncounted();
  end_start();
  if (k_.begins_not) return begin();
  if (k_.runs == Runs::standby && !k_.holds) return look();
  read_lineage(false);
}

// A node that follows counts as a copy only once it has the marker of the group. The primary may
// have commits from before that marker, for which clients still wait. A node that counted with such
// a commit and without the marker would be ordered by an older group in the next election. That
// election could prefer a node with the marker of a group in between, a marker that no other node
// has. The commit would be lost.
void KeeperTurn::on_result(const Following&, const Configured&) {
  k_.unfit = false;
  k_.holds.reset();
  end_start();
  if (!stands(Line::marker_before_name) || !stands(Line::marker_of_the_group)) return take_name();
  await_marker();
}

// Called if this node was away for longer than the primary keeps its log, or if somebody else has
// promoted it, so that its log is another now. The note of the clone needs the node's present
// holding, so the node is sealed and looked at first.
void KeeperTurn::clone_instead() {
  k_.wants_clone = true;
  seal();
}

void KeeperTurn::on_result(const Naming&, const Configured&) {
  k_.follows = true;
  if (stands(Line::gone_log_is_cloned)) return await_log_gone();
  rest();
}

// A failure to follow is no reason for an election. The node reads the primary's lineage instead,
// and decides from that how to follow.
void KeeperTurn::failed(const Following&, const Failed&) {
  end_start();
  read_lineage(false);
}

void KeeperTurn::read_lineage(bool clone) {
  const Source of = source();
  order(ReadLineage{of.node, of.group}, PrimaryLineage{clone});
}

void KeeperTurn::on_result(const PrimaryLineage& wait, const LineageRead& read) {
  Way way = Way::clone;
  const bool must_clone = wait.clone || k_.wants_clone || k_.does_not_count();
  if (!must_clone && k_.runs == Runs::standby && k_.holds)
    way = way_to_follow(*k_.holds, read.lineage);
  if (way != Way::follow) return resync(way);
  if (k_.is_resyncing()) return take_resync_name();
  follow_uncounted();
}

// --- Rewinding and cloning, which continue in later groups while the source stays primary

void KeeperTurn::on_event(const RejoinAsked&) {
  const std::string refused = why_no_rejoin();
  tell(AnswerOwner{refused});
  if (!refused.empty()) return;
  k_.wants_clone = true;
  if (awaits<Ending>()) return;  // it ends with a sealed standby anyway
  if (!awaits<SealBeforeRecovery, Recovery>()) return seal();
  // A PostgreSQL that does not get on cannot be asked for its holding.
  new_course();
  end_start();
  resync(Way::clone);
}

std::string KeeperTurn::why_no_rejoin() const {
  const std::string self = named(settings_.self);
  if (writes())
    return self + " is the primary: make another node the primary first, with switch-over";
  if (!k_.place) return self + " is in no group now, so it knows no primary: try again later";
  if (!k_.place->choice.primary) return "nobody writes now, so there is no primary to clone from";
  if (k_.is_resyncing()) return self + " is already being rewound or cloned";
  return {};
}

// If the source is still the primary, a rewind or clone from it goes on. If the copy is complete
// already, the node tells PostgreSQL the new group, since slots are named after groups. If another
// node is primary, everything starts again from that node.
void KeeperTurn::follow_primary_while_resyncing() {
  const auto primary = k_.place->choice.primary;
  if (primary == settings_.self) return forget_resync();
  end_start();
  if (awaits<NoteGone>()) return;
  if (!primary) return look_again();
  const bool from_it = k_.source && k_.source->node == *primary;
  if (from_it && awaits<EndBeforeResync, Resync>()) return;
  k_.source = Source{*primary, k_.place->group};
  if (awaits<HeldNoted>()) return;
  if (k_.runs == Runs::standby) return seal();
  const bool recovers = awaits<ResyncName, ResyncedRecovery>();
  new_course();
  if (from_it && recovers) return take_resync_name();
  read_lineage(true);
}

// No node writes, and this node has no record of its earlier data. Such a node does not count, and
// with two such nodes no node would ever write again. So the node tries once more to start
// PostgreSQL on the data that it has, and to read its holding.
void KeeperTurn::look_again() {
  if (k_.note || awaits<ResyncedRecovery>()) return;
  k_.source.reset();
  seal();
}

// Reached only in the lab, when the rule `held_is_not_chosen` is struck out.
void KeeperTurn::forget_resync() {
  k_.note.reset();
  k_.source.reset();
  new_course();
  write();
}

// From the order to write the note until the note is known to be gone, the node reports the note
// and not its data. During the write the keeper cannot know if the note is on disk. This
// uncertainty does no harm: after a crash the node reports either the note or the untouched data,
// and both name the same holding.
void KeeperTurn::resync(Way way) {
  const bool noted = k_.is_resyncing() || !k_.holds;
  k_.source = source();
  if (noted) return end_before(way);
  k_.note = Note{as_held(*k_.holds)};
  note();
}

// A node that has no source yet waits for its next `start`.
void KeeperTurn::on_result(const HeldNoted&, const Noted&) {
  if (k_.source) read_lineage(false);
}

void KeeperTurn::on_result(const EndBeforeResync& wait, const Ended&) {
  k_.runs = Runs::nothing;
  k_.holds.reset();
  resync_by(wait.way);
}

void KeeperTurn::resync_by(Way way) {
  const NodeId from = k_.source->node;
  if (way == Way::rewind) return order(Rewind{from}, Resync{way});
  order(Clone{from, k_.source->group}, Resync{way});
}

// Slots belong to the present group. If the source has become primary of a later group during the
// copy, this node follows in the later group.
void KeeperTurn::on_result(const Resync&, const Resynced&) {
  k_.wants_clone = false;
  if (k_.place && k_.place->choice.primary == k_.source->node) k_.source->group = k_.place->group;
  take_resync_name();
}

void KeeperTurn::failed(const Resync& wait, const Failed&) {
  if (wait.way == Way::rewind) return resync_by(Way::clone);
  read_lineage(true);
}

void KeeperTurn::on_result(const ResyncName&, const Configured&) {
  if (k_.runs == Runs::nothing) return order(Begin{}, ResyncedRecovery{});
  order(AwaitStreaming{}, Streaming{});
}

void KeeperTurn::on_result(const ResyncedRecovery&, const Began&) {
  runs_as_standby();
  rest();
  if (k_.place && !k_.place->choice.primary && !k_.note) return look_again();
  order(AwaitStreaming{}, Streaming{});
}

void KeeperTurn::failed(const ResyncedRecovery&, const Failed& failure) {
  does_not_run(failure);
  if (k_.begins_not) return order(Begin{}, ResyncedRecovery{});
  read_lineage(true);
}

// The node takes its own name again only after the note is gone. Under this name it counts as a
// copy. If it took its name earlier and then failed, its next life would report the note. The note
// lacks the commits that the node acknowledged under its name.
void KeeperTurn::on_result(const NoteGone&, const Noted&) {
  const auto source = k_.source;
  k_.note.reset();
  k_.source.reset();
  k_.at_least.reset();
  k_.reported_data = k_.in_vain = false;
  if (k_.runs == Runs::nothing) return begin();
  const bool follows = k_.place && source && k_.place->choice.primary == source->node &&
                       k_.place->group == source->group;
  if (follows) return follow_uncounted();
  seal();  // the standby may have received log that it has not replayed
}

// --- The state that is shown

void KeeperTurn::show() {
  Show now;
  now.primary = k_.runs == Runs::primary && writes();
  now.open = k_.open;
  now.replica = k_.follows && k_.runs == Runs::standby;
  now.doing = std::visit([](const auto& awaited) { return awaited.doing; }, k_.wait);
  if (const auto* resync = std::get_if<Resync>(&k_.wait))
    now.doing = resync->way == Way::rewind ? "is rewound" : "is cloned";
  if ((awaits<TheNode, LogKept>() || k_.open) && k_.place) now.doing = k_.place->choice.why;
  if (k_.begins_not) now.doing = "does not start: " + *k_.begins_not;
  if (now == k_.shown) return;
  k_.shown = now;
  tell(now);
}

}  // namespace muster::postgres
