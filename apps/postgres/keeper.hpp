#pragma once

#include "apps/postgres/choose.hpp"
#include "apps/postgres/lines.hpp"
#include "apps/postgres/orders.hpp"

#include <optional>
#include <string>
#include <variant>

/// What a node makes of its PostgreSQL: a value and a function. No clock, I/O or thread; whoever
/// performs the orders tells how each ended, and one is out at a time.

namespace muster::postgres {

struct Settings {
  NodeId self;
  Copies copies;
  Struck struck;
};
MUSTER_DESCRIBE(Settings, self, copies, struck);

// --- What a keeper waits for: one for each order that it gives
// ------------------------------------------------------------------------------------

/// For the node, which calls `stop` or `start` next.
struct TheNode {};

// Beginning: a sealed standby, whatever it was.
struct SealBeforeRecovery {};
struct Recovery {};

// Stop.
struct Seal {};
struct SealShown {};
struct WalsendersEnd {};
struct ReplayEnd {};
struct SealedHolding {};
/// Of a primary of before, or of what could not be sealed in time: then the report is nothing.
struct Ending {
  bool overdue{};
};
/// Of an open primary, in order: its node leaves, or hands over.
struct Draining {
  std::optional<NodeId> heir;
};

// Start, primary.
struct Promotion {};
struct GroupRow {};
struct RowCopies {
  Lsn end;
};
struct Opening {};
struct OpeningShown {};
struct Release {};
struct Flushing {};

// Beside the group: until too few follow any more.
struct NoFollower {};

// With a witness, of a primary that is alone: until another's log is whole.
struct EveryMember {};
struct Follower {};
struct Demand {};
struct DemandShown {};
struct DemandInForce {};
struct LastBefore {};
struct DemandCopied {
  Lsn end;
};
struct Relaxing {};

// Start, others.
struct Following {};
struct PrimaryLineage {
  bool clone{};  ///< whatever it is
};

// Mending.
struct HeldNoted {};
struct EndBeforeMending {
  Way way{};
};
struct Mend {
  Way way{};
};
struct MendingName {};
struct MendedRecovery {};
struct Streaming {};
struct NoteGone {};

MUSTER_DESCRIBE(TheNode);
MUSTER_DESCRIBE(SealBeforeRecovery);
MUSTER_DESCRIBE(Recovery);
MUSTER_DESCRIBE(Seal);
MUSTER_DESCRIBE(SealShown);
MUSTER_DESCRIBE(WalsendersEnd);
MUSTER_DESCRIBE(ReplayEnd);
MUSTER_DESCRIBE(SealedHolding);
MUSTER_DESCRIBE(Ending, overdue);
MUSTER_DESCRIBE(Draining, heir);
MUSTER_DESCRIBE(Promotion);
MUSTER_DESCRIBE(GroupRow);
MUSTER_DESCRIBE(RowCopies, end);
MUSTER_DESCRIBE(Opening);
MUSTER_DESCRIBE(OpeningShown);
MUSTER_DESCRIBE(Release);
MUSTER_DESCRIBE(Flushing);
MUSTER_DESCRIBE(EveryMember);
MUSTER_DESCRIBE(Follower);
MUSTER_DESCRIBE(Demand);
MUSTER_DESCRIBE(DemandShown);
MUSTER_DESCRIBE(DemandInForce);
MUSTER_DESCRIBE(LastBefore);
MUSTER_DESCRIBE(DemandCopied, end);
MUSTER_DESCRIBE(Relaxing);
MUSTER_DESCRIBE(NoFollower);
MUSTER_DESCRIBE(Following);
MUSTER_DESCRIBE(PrimaryLineage, clone);
MUSTER_DESCRIBE(HeldNoted);
MUSTER_DESCRIBE(EndBeforeMending, way);
MUSTER_DESCRIBE(Mend, way);
MUSTER_DESCRIBE(MendingName);
MUSTER_DESCRIBE(MendedRecovery);
MUSTER_DESCRIBE(Streaming);
MUSTER_DESCRIBE(NoteGone);

using Wait = std::variant<TheNode, SealBeforeRecovery, Recovery, Seal, SealShown, WalsendersEnd,
                          ReplayEnd, SealedHolding, Ending, Draining, Promotion, GroupRow,
                          RowCopies, Opening, OpeningShown, Release, Flushing, EveryMember,
                          Follower, Demand, DemandShown, DemandInForce, LastBefore, DemandCopied,
                          Relaxing, NoFollower, Following, PrimaryLineage, HeldNoted,
                          EndBeforeMending, Mend, MendingName, MendedRecovery, Streaming, NoteGone>;

// --- The state
// ------------------------------------------------------------------------------------

/// What runs here, as far as the keeper knows.
enum class Runs { nothing, standby, primary };
MUSTER_DESCRIBE_ENUM(Runs, nothing, standby, primary)

/// What this node was started with; from then until the next stop.
struct Place {
  GroupNumber group;
  Choice choice;
  bool all_have_it = false;  ///< all members, in safe storage
};
MUSTER_DESCRIBE(Place, group, choice, all_have_it);

/// From whom a node is mended, and in which group that one was its primary.
struct Source {
  NodeId node;
  GroupNumber group;
};
MUSTER_DESCRIBE(Source, node, group);

struct Keeper {
  Round round;
  Wait wait;
  Runs runs{};

  // The hooks.
  bool stop_owed = false;   ///< a report is
  bool start_owed = false;  ///< the end of start is
  bool reported_data = false;
  std::optional<Place> place;

  // What it holds.
  std::optional<Holding> holds;         ///< since it was sealed; none: not known, or no longer true
  std::optional<NodeId> hands_over_to;  ///< since it has shut down for that
  std::optional<Held> at_least;         ///< what its data held once; it is never less
  std::optional<Note> note;             ///< of what it held before it began to be mended
  std::optional<Source> source;         ///< it is being mended
  bool anew = false;                    ///< its owner wants it cloned, whatever it is

  [[nodiscard]] bool is_mending() const { return note || source; }
  [[nodiscard]] bool counts_for_nothing() const { return note && !note->held; }

  std::optional<std::string> begins_not;  ///< why, where it is not its data
  bool demanded = false;                  ///< it was alone, and another's log is whole since
  bool unfollowed = false;                ///< too few get what it writes
  bool in_vain = false;                   ///< it was so since it last was open, or was mended
  bool unfit = false;    ///< it was primary and could not write: it is not chosen next
  bool open = false;     ///< sessions get their commits acknowledged
  bool follows = false;  ///< under its own name
  Show shown;
};
MUSTER_DESCRIBE(Keeper, round, wait, runs, stop_owed, start_owed, reported_data, place, holds,
                hands_over_to, at_least, note, source, anew, begins_not, demanded, unfollowed,
                in_vain, unfit, open, follows, shown);

/// PostgreSQL has been told to begin and does not answer yet.
[[nodiscard]] bool begins(const Keeper& keeper);

/// What a happening makes of a keeper: changes it, and returns what is to be done, in order.
Orders step(const Settings& settings, Keeper& keeper, const Happening& happening);

}  // namespace muster::postgres
