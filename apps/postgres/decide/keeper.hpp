#pragma once

#include "apps/postgres/decide/choose.hpp"
#include "apps/postgres/decide/orders.hpp"
#include "apps/postgres/decide/struck_lines.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

/// The keeper decides what a node does with its PostgreSQL. It consists of a state and a function
/// that changes the state (`step`), without clock, I/O or threads. Another part performs the orders
/// and reports how each one ended. At most one order is pending at a time.
///
/// The keeper maintains two invariants. First, a commit is acknowledged only by nodes that hold the
/// marker of the primary's group: a node takes its own name, under which it counts, only once it
/// has that marker. In a cluster with a witness, a primary can also acknowledge alone
/// (keeper_alone.cpp). Second, a report describes only data that no primary counts as a copy any
/// more: the data of a sealed node, or a node's data from before a rewind or clone. While both
/// invariants hold, at least one of any R nodes that report has each acknowledged commit, and
/// `choose` (choose.hpp) finds that node. struck_lines.hpp lists the rules that maintain the two
/// invariants.

namespace muster::postgres {

struct Settings {
  NodeId self;
  Copies copies;
  Struck struck;
};
MUSTER_DESCRIBE(Settings, self, copies, struck);

// --- The waits of a keeper: one for each order that it gives

/// The events that may end an order, beside `Failed`. An empty list means that no order is pending.
/// `doing` describes the wait in the status. If `doing` is empty, the status shows why the node has
/// its role instead.
template <class... EventTypes>
struct EndsWith {};

/// Waits for the node, which calls `stop` or `start` next.
struct TheNode {
  using Ends = EndsWith<>;
  static constexpr std::string_view doing = "";
};

// The beginning: PostgreSQL starts as a sealed standby, whatever it was before.
struct SealBeforeRecovery {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "seals itself before PostgreSQL starts";
};
struct Recovery {
  using Ends = EndsWith<Began>;
  static constexpr std::string_view doing = "recovers";
};

// `stop`.
struct Seal {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "seals itself";
};
struct Gate {
  using Ends = EndsWith<GateClosed>;
  static constexpr std::string_view doing = "ends walsenders and drops the slots of its standbys";
};
struct ReplayEnd {
  using Ends = EndsWith<Replayed>;
  static constexpr std::string_view doing = "replays the WAL that it has received";
};
struct SealedHolding {
  using Ends = EndsWith<Seen>;
  static constexpr std::string_view doing = "reads how far its data goes";
};
/// Shuts down a former primary, or a PostgreSQL that could not be sealed in time. A node that could
/// not be sealed in time reports nothing.
struct Ending {
  using Ends = EndsWith<Ended>;
  static constexpr std::string_view doing = "shuts down";
  bool overdue{};
};
/// Shuts down an open primary in order, because its node leaves or hands over.
struct Draining {
  using Ends = EndsWith<Ended>;
  static constexpr std::string_view doing = "shuts down as soon as its standbys have all WAL";
  std::optional<NodeId> heir;
};

// `start` of the primary.
struct Promotion {
  using Ends = EndsWith<Promoted>;
  static constexpr std::string_view doing = "promotes";
};
struct GroupMarker {
  using Ends = EndsWith<MarkerWritten>;
  static constexpr std::string_view doing = "marks the term of its group";
};
struct Opening {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "lets clients write";
  Lsn marker;
};
struct OpeningShown {
  using Ends = EndsWith<ConfShown>;
  static constexpr std::string_view doing = "waits until new connections show that they may write";
  Lsn marker;
};
struct MarkerCopies {
  using Ends = EndsWith<CopiesHold, FollowerGone>;
  static constexpr std::string_view doing = "waits until other nodes have the marker of its group";
  Lsn end;
};
struct Flushing {
  using Ends = EndsWith<Checkpointed>;
  static constexpr std::string_view doing = "writes a checkpoint";
};

// After `start`: the primary waits until too few nodes follow it.
struct NoFollower {
  using Ends = EndsWith<FollowerGone>;
  static constexpr std::string_view doing = "";
};

// With a witness: a primary acknowledges alone until another node's log is complete. Then commits
// wait for copies again.
struct EveryMember {
  using Ends = EndsWith<>;
  static constexpr std::string_view doing = "waits until all members know that it goes on alone";
};
struct Acknowledging {
  using Ends = EndsWith<Acknowledges>;
  static constexpr std::string_view doing = "begins to acknowledge commits alone";
};
struct Follower {
  using Ends = EndsWith<FollowerThere>;
  static constexpr std::string_view doing = "";
};
struct Demand {
  using Ends = EndsWith<AcknowledgerGone>;
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
  using Ends = EndsWith<Acknowledges>;
  static constexpr std::string_view doing = "";
};

// `start` of another node.
struct Following {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "is told which node to follow";
};
struct MarkerAwaited {
  using Ends = EndsWith<MarkerHeld, LogGone, NoStandby>;
  static constexpr std::string_view doing = "waits until it has the marker of its group";
};
struct Naming {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing = "takes the name under which its copies count";
};
struct LogKept {
  using Ends = EndsWith<LogGone, NoStandby>;
  static constexpr std::string_view doing = "";
};
struct PrimaryLineage {
  using Ends = EndsWith<LineageRead>;
  static constexpr std::string_view doing = "reads the history of its primary";
  bool clone{};  ///< clone even if the lineage allows a rewind
};

// Rewinding or cloning.
struct HeldNoted {
  using Ends = EndsWith<Noted>;
  static constexpr std::string_view doing =
      "records how far its data goes before a rewind or clone";
};
struct EndBeforeResync {
  using Ends = EndsWith<Ended>;
  static constexpr std::string_view doing = "shuts down for a rewind or clone";
  Way way{};
};
struct Resync {
  using Ends = EndsWith<Resynced>;
  static constexpr std::string_view doing = "is rewound or cloned";
  Way way{};
};
struct ResyncName {
  using Ends = EndsWith<Configured>;
  static constexpr std::string_view doing =
      "is told which node to follow after the rewind or clone";
};
struct ResyncedRecovery {
  using Ends = EndsWith<Began>;
  static constexpr std::string_view doing = "recovers after the rewind or clone";
};
struct Streaming {
  using Ends = EndsWith<Streams>;
  static constexpr std::string_view doing = "waits until it streams after the rewind or clone";
};
struct NoteGone {
  using Ends = EndsWith<Noted>;
  static constexpr std::string_view doing =
      "removes its record of the data before the rewind or clone";
};

MUSTER_DESCRIBE(TheNode);
MUSTER_DESCRIBE(SealBeforeRecovery);
MUSTER_DESCRIBE(Recovery);
MUSTER_DESCRIBE(Seal);
MUSTER_DESCRIBE(Gate);
MUSTER_DESCRIBE(ReplayEnd);
MUSTER_DESCRIBE(SealedHolding);
MUSTER_DESCRIBE(Ending, overdue);
MUSTER_DESCRIBE(Draining, heir);
MUSTER_DESCRIBE(Promotion);
MUSTER_DESCRIBE(GroupMarker);
MUSTER_DESCRIBE(Opening, marker);
MUSTER_DESCRIBE(OpeningShown, marker);
MUSTER_DESCRIBE(MarkerCopies, end);
MUSTER_DESCRIBE(Flushing);
MUSTER_DESCRIBE(EveryMember);
MUSTER_DESCRIBE(Acknowledging);
MUSTER_DESCRIBE(Follower);
MUSTER_DESCRIBE(Demand);
MUSTER_DESCRIBE(LastBefore);
MUSTER_DESCRIBE(DemandCopied, end);
MUSTER_DESCRIBE(Relaxing);
MUSTER_DESCRIBE(NoFollower);
MUSTER_DESCRIBE(Following);
MUSTER_DESCRIBE(MarkerAwaited);
MUSTER_DESCRIBE(Naming);
MUSTER_DESCRIBE(LogKept);
MUSTER_DESCRIBE(PrimaryLineage, clone);
MUSTER_DESCRIBE(HeldNoted);
MUSTER_DESCRIBE(EndBeforeResync, way);
MUSTER_DESCRIBE(Resync, way);
MUSTER_DESCRIBE(ResyncName);
MUSTER_DESCRIBE(ResyncedRecovery);
MUSTER_DESCRIBE(Streaming);
MUSTER_DESCRIBE(NoteGone);

using Wait =
    std::variant<TheNode, SealBeforeRecovery, Recovery, Seal, Gate, ReplayEnd, SealedHolding,
                 Ending, Draining, Promotion, GroupMarker, Opening, OpeningShown, MarkerCopies,
                 Flushing, EveryMember, Acknowledging, Follower, Demand, LastBefore, DemandCopied,
                 Relaxing, NoFollower, Following, MarkerAwaited, Naming, LogKept, PrimaryLineage,
                 HeldNoted, EndBeforeResync, Resync, ResyncName, ResyncedRecovery, Streaming,
                 NoteGone>;

template <class EventType, class... EventTypes>
constexpr bool is_one_of(EndsWith<EventTypes...> /*unused*/) {
  const bool has_an_order = sizeof...(EventTypes) > 0;
  return (std::is_same_v<EventType, EventTypes> || ...) ||
         (std::is_same_v<EventType, Failed> && has_an_order);
}
/// True if an event of type `EventType` may end the wait `Awaited`.
template <class Awaited, class EventType>
inline constexpr bool may_end = is_one_of<EventType>(typename Awaited::Ends{});

// --- The state

/// The kind of server that runs here, as far as the keeper knows.
enum class Runs { nothing, standby, primary };
MUSTER_DESCRIBE_ENUM(Runs, nothing, standby, primary)

/// The group and definition that this node was started with. Valid until the next stop.
struct Place {
  GroupNumber group;
  Choice choice;
  bool all_have_it = false;  ///< all members have the definition in safe storage
};
MUSTER_DESCRIBE(Place, group, choice, all_have_it);

/// The node from which this node is rewound or cloned, and the group in which that node was
/// primary.
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
  bool stop_owed = false;   ///< the node waits for a report
  bool start_owed = false;  ///< the node waits for the end of start
  bool reported_data = false;
  std::optional<Place> place;

  // Its data.
  std::optional<Holding> holds;  ///< read when the node was sealed; none: not known, or outdated
  std::optional<NodeId> hands_over_to;  ///< the heir, if this node has shut down to hand over
  std::optional<Held> at_least;  ///< an earlier holding: a node that holds less now has lost data
  std::optional<Note> note;      ///< what this node held before its rewind or clone began
  std::optional<Source> source;  ///< the node from which it is being rewound or cloned
  bool wants_clone = false;      ///< the operator wants a clone, even if the data is good

  [[nodiscard]] bool is_resyncing() const { return note || source; }
  [[nodiscard]] bool does_not_count() const { return note && !note->held; }

  /// Why PostgreSQL does not start, if its data is not the reason.
  std::optional<std::string> begins_not;
  bool demanded = false;    ///< this primary was alone; now another node's log is complete
  bool unfollowed = false;  ///< too few nodes receive what this primary writes
  /// Set when this node becomes `unfollowed`, until it is open again, or rewound or cloned.
  bool in_vain = false;
  bool unfit = false;    ///< this node was primary and could not write: do not choose it next
  bool open = false;     ///< commits of its sessions are acknowledged
  bool follows = false;  ///< it follows under its own name, so its copies count
  Show shown;
};
MUSTER_DESCRIBE(Keeper, round, wait, runs, stop_owed, start_owed, reported_data, place, holds,
                hands_over_to, at_least, note, source, wants_clone, begins_not, demanded,
                unfollowed, in_vain, unfit, open, follows, shown);

/// True if PostgreSQL has been told to start and has not answered yet.
[[nodiscard]] bool begins(const Keeper& keeper);

/// Applies one event to the keeper. Returns the orders that are to be performed, in this sequence.
Orders step(const Settings& settings, Keeper& keeper, const KeeperEvent& event);

}  // namespace muster::postgres
