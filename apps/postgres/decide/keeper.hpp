#pragma once

#include "apps/postgres/decide/choose.hpp"
#include "apps/postgres/decide/orders.hpp"
#include "apps/postgres/decide/struck_lines.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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

/// The ends of an order, beside `Failed`. With no ends, no order is out. `doing` names the wait in
/// the status. It is empty if the status shows the choice instead.
template <class... Happenings>
struct EndsWith {};

/// For the node, which calls `stop` or `start` next.
struct TheNode {
  using Ends = EndsWith<>;
  static constexpr std::string_view doing = "";
};

// Beginning: a sealed standby, whatever it was.
struct SealBeforeRecovery {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "seals itself before it begins";
};
struct Recovery {
  using Ends = EndsWith<Began>;
  static constexpr std::string_view doing = "recovers";
};

// Stop.
struct Seal {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "seals itself";
};
struct SealShown {
  using Ends = EndsWith<NamesShown>;
  static constexpr std::string_view doing = "waits until new connections show the seal";
};
struct WalsendersEnd {
  using Ends = EndsWith<WalsendersGone>;
  static constexpr std::string_view doing = "ends walsenders";
};
struct ReplayEnd {
  using Ends = EndsWith<Replayed>;
  static constexpr std::string_view doing = "replays what it has received";
};
struct SealedHolding {
  using Ends = EndsWith<Seen>;
  static constexpr std::string_view doing = "looks at what it holds";
};
/// Of a primary of before, or of what could not be sealed in time: then the report is nothing.
struct Ending {
  using Ends = EndsWith<Ended>;
  static constexpr std::string_view doing = "shuts down";
  bool overdue{};
};
/// Of an open primary, in order: its node leaves, or hands over.
struct Draining {
  using Ends = EndsWith<Ended>;
  static constexpr std::string_view doing = "shuts down when its standbys have all";
  std::optional<NodeId> heir;
};

// Start, primary.
struct Promotion {
  using Ends = EndsWith<Promoted>;
  static constexpr std::string_view doing = "promotes";
};
struct GroupRow {
  using Ends = EndsWith<TermWritten>;
  static constexpr std::string_view doing = "writes the row of its group";
};
struct RowCopies {
  using Ends = EndsWith<CopiesHold, FollowerGone>;
  static constexpr std::string_view doing = "waits until its row is copied";
  Lsn end;
};
struct Opening {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "opens";
};
struct OpeningShown {
  using Ends = EndsWith<NamesShown>;
  static constexpr std::string_view doing = "waits until new connections show that it is open";
};
struct Release {
  using Ends = EndsWith<Kicked>;
  static constexpr std::string_view doing = "releases sessions that wait";
};
struct Flushing {
  using Ends = EndsWith<Checkpointed>;
  static constexpr std::string_view doing = "writes a checkpoint";
};

// Beside the group: until too few follow any more.
struct NoFollower {
  using Ends = EndsWith<FollowerGone>;
  static constexpr std::string_view doing = "";
};

// With a witness, of a primary that is alone: until another's log is whole.
struct EveryMember {
  using Ends = EndsWith<>;
  static constexpr std::string_view doing = "waits until all members know that it goes on alone";
};
struct Follower {
  using Ends = EndsWith<FollowerThere>;
  static constexpr std::string_view doing = "";
};
struct Demand {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "";
};
struct DemandShown {
  using Ends = EndsWith<NamesShown>;
  static constexpr std::string_view doing = "";
};
struct DemandInForce {
  using Ends = EndsWith<Checkpointed>;
  static constexpr std::string_view doing = "";
};
struct LastBefore {
  using Ends = EndsWith<Kicked>;
  static constexpr std::string_view doing = "";
};
struct DemandCopied {
  using Ends = EndsWith<CopiesHold, FollowerGone>;
  static constexpr std::string_view doing = "";
  Lsn end;
};
struct Relaxing {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "";
};

// Start, others.
struct Following {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "is told whom to follow";
};
struct PrimaryLineage {
  using Ends = EndsWith<LineageRead>;
  static constexpr std::string_view doing = "reads the lineage of its primary";
  bool clone{};  ///< whatever it is
};

// Mending.
struct HeldNoted {
  using Ends = EndsWith<Noted>;
  static constexpr std::string_view doing = "notes what it holds before it is mended";
};
struct EndBeforeMending {
  using Ends = EndsWith<Ended>;
  static constexpr std::string_view doing = "shuts down to be mended";
  Way way{};
};
struct Mend {
  using Ends = EndsWith<Mended>;
  static constexpr std::string_view doing = "is mended";
  Way way{};
};
struct MendingName {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "is told whom to follow while it is mended";
};
struct MendedRecovery {
  using Ends = EndsWith<Began>;
  static constexpr std::string_view doing = "recovers after it was mended";
};
struct Streaming {
  using Ends = EndsWith<Streams>;
  static constexpr std::string_view doing = "is mended, and waits until it streams";
};
struct NoteGone {
  using Ends = EndsWith<Noted>;
  static constexpr std::string_view doing = "is mended, and its note goes";
};

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

template <class Happened, class... Happenings>
constexpr bool is_one_of(EndsWith<Happenings...> /*unused*/) {
  const bool has_an_order = sizeof...(Happenings) > 0;
  return (std::is_same_v<Happened, Happenings> || ...) ||
         (std::is_same_v<Happened, Failed> && has_an_order);
}
/// Whether that wait may end so.
template <class Awaited, class Happened>
inline constexpr bool may_end = is_one_of<Happened>(typename Awaited::Ends{});

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
