#pragma once

#include "apps/postgres/decide/values.hpp"

#include <boost/mp11/algorithm.hpp>

#include <string>
#include <variant>
#include <vector>

/// The orders that a keeper (keeper.hpp) gives to its PostgreSQL. A real instance performs them
/// (perform/instance.hpp), or the lab's model does (lab/postgres_world.hpp).
///
/// The PostgreSQL performs each order once. An order ends with the event that its comment names, or
/// with `Failed`. The event contains the order's round. Orders that one step returns are performed
/// one after the other. `Abandon` stops the present order, and the end of that order is not
/// reported.

namespace muster::postgres {

/// Counts how often a keeper has changed its course of action. The keeper ignores the end of an
/// order that it gave in an earlier round.
struct Round {
  std::uint64_t value{};
  friend auto operator<=>(const Round&, const Round&) = default;
};
MUSTER_DESCRIBE(Round, value);

/// The contents of `muster.conf`, a file beside the data directory. No setting in this file decides
/// whether a commit is acknowledged. The standby names are on the command line of PostgreSQL, and
/// never change while it runs. A standby acknowledges for a primary only if its name is one of
/// them, and if the primary has a slot for it: the slots are the gate.
struct Conf {
  bool writable{};                ///< transactions are read-write by default
  std::optional<NodeId> follows;  ///< `primary_conninfo`; none: it follows no node
  /// The node calls itself nX, one of the standby names, so its copies count. Otherwise it calls
  /// itself mend_nX, a name in no list.
  bool counts{};
  /// The group in which it follows. `primary_slot_name` contains the group, and the primary makes a
  /// slot for each node once it has marked the term of that group. So the primary serves only a
  /// standby that knows the present group. The slot also keeps a standby from counting twice, and
  /// from following a node whose log is now a different one.
  GroupNumber group{};
};
MUSTER_DESCRIBE(Conf, writable, follows, counts, group);

enum class Shutdown {
  fast,      ///< an orderly shutdown; a primary ends only when its standbys have all its log
  immediate  ///< a shutdown as in a crash
};
MUSTER_DESCRIBE_ENUM(Shutdown, fast, immediate)

// --- Orders, and how each ends

/// Wait until no process of an earlier PostgreSQL is left. Then start PostgreSQL with the present
/// muster.conf as a standby, even if it was a primary before. Ends with `Began` when it has
/// recovered to the end of its log and answers.
struct Begin {};
/// Shut PostgreSQL down, with all its processes. Ends with `Ended`.
struct End {
  Shutdown how{};
};
/// Make muster.conf durable, then send SIGHUP if PostgreSQL runs. Ends with `Configured`.
struct Configure {
  Conf conf;
};
/// Open new connections until one shows that PostgreSQL has read the present muster.conf. Ends with
/// `ConfShown`.
struct ShowConf {};
/// Terminate the walsenders that can acknowledge commits, and drop the slots of all groups, again
/// and again until no such walsender and no slot is left. From then on no commit is acknowledged.
/// Ends with `GateClosed`.
struct CloseGate {};
/// On a standby: wait until it has no walreceiver and has replayed all that it had received. One
/// that admits no session need not have replayed it. Sessions that hold up the replay are ended.
/// Ends with `Replayed`.
struct FinishReplay {};
/// Read the holding of the node. Ends with `Seen`.
struct Look {};
/// Promote the standby. Ends with `Promoted`.
struct Promote {};
/// Write the marker of the order's group, which waits for no copy, and record the term. Then make
/// the slots of the group. Ends with `MarkerWritten`.
struct WriteMarker {
  GroupNumber group;
};
/// On a standby: wait until its own log has the marker of the order's group, and record the term.
/// Ends with `MarkerHeld`, or as `AwaitLogGone` does.
struct AwaitMarker {
  GroupNumber group;
  NodeId of;  ///< the node that it follows
};
/// On a standby: wait until the node that it follows has removed log that this standby needs next.
/// Ends with `LogGone`, or with `NoStandby` if somebody else has promoted this standby.
struct AwaitLogGone {
  NodeId of;
};
/// Wait until W - 1 standbys have flushed the order's position. For a marker, this position is
/// `MarkerWritten::end`. Ends with `CopiesHold`, or, if bounded, with `FollowerGone`.
struct AwaitCopies {
  Lsn lsn;
  /// If true, give up when no standby has got further for a while.
  bool bounded = false;
};
/// Write any log record. Ends with `Kicked`.
struct Kick {};
/// Make a checkpoint. Ends with `Checkpointed`.
struct Checkpoint {};
/// With a witness: run the acknowledger, a standby without data that is a part of this node. While
/// it runs, commits wait for no other node. It ends when this node ends. Ends with `Acknowledges`.
struct Acknowledge {};
/// Stop the acknowledger, and wait until its walsender is gone. Ends with `AcknowledgerGone`.
struct EndAcknowledger {};
/// Wait until another node follows under its own name and has all log that this primary had written
/// when the keeper first saw that node follow. Ends with `FollowerThere`.
struct AwaitFollower {};
/// Wait until fewer than W - 1 standbys have all that is written, and no standby has got further
/// for a while. Ends with `FollowerGone`.
struct AwaitNoFollower {};
/// Ask the primary of a group for the lineage of its log, once this log has the group's marker.
/// Ends with `LineageRead`.
struct ReadLineage {
  NodeId of;
  GroupNumber group;
};
/// Write the note durably, or, if the order has none, remove the note on disk. Ends with `Noted`.
struct WriteNote {
  std::optional<Note> note;
};
/// While PostgreSQL is down: run pg_rewind from that node, after a CHECKPOINT there. Ends with
/// `Resynced`.
struct Rewind {
  NodeId from;
};
/// Make a new copy with pg_basebackup, and then put it in the place of the old data. Ends with
/// `Resynced`.
struct Clone {
  NodeId from;
  GroupNumber group{};  ///< the group in which `from` is primary; zero: no group has begun
};
/// Wait until the standby is consistent, streams, and has all that the primary had when it began to
/// stream. Ends with `Streams`.
struct AwaitStreaming {};
/// Stop the present order. No event follows.
struct Abandon {};

// --- Messages to the node: no end follows

/// The report that ends `stop`.
struct GiveReport {
  Evidence evidence;
};
/// The end of `start`. The `start` failed if `failed_because` is not empty.
struct EndStart {
  std::string failed_because;
};
/// The keeper wants an election.
struct WantElection {
  std::string why;
};
/// The answer to `HandOverAsked` or `RejoinAsked`, given at once.
struct AnswerOwner {
  std::string refused_because;  ///< empty: the request is being carried out
};
/// The state of the PostgreSQL, for displays of the node.
struct Show {
  bool primary{}, open{}, replica{};
  std::string doing;  ///< in words
};
MUSTER_DESCRIBE(Begin);
MUSTER_DESCRIBE(End, how);
MUSTER_DESCRIBE(Configure, conf);
MUSTER_DESCRIBE(ShowConf);
MUSTER_DESCRIBE(CloseGate);
MUSTER_DESCRIBE(FinishReplay);
MUSTER_DESCRIBE(Look);
MUSTER_DESCRIBE(Promote);
MUSTER_DESCRIBE(WriteMarker, group);
MUSTER_DESCRIBE(AwaitMarker, group, of);
MUSTER_DESCRIBE(AwaitLogGone, of);
MUSTER_DESCRIBE(AwaitCopies, lsn, bounded);
MUSTER_DESCRIBE(Kick);
MUSTER_DESCRIBE(Checkpoint);
MUSTER_DESCRIBE(Acknowledge);
MUSTER_DESCRIBE(EndAcknowledger);
MUSTER_DESCRIBE(AwaitFollower);
MUSTER_DESCRIBE(AwaitNoFollower);
MUSTER_DESCRIBE(ReadLineage, of, group);
MUSTER_DESCRIBE(WriteNote, note);
MUSTER_DESCRIBE(Rewind, from);
MUSTER_DESCRIBE(Clone, from, group);
MUSTER_DESCRIBE(AwaitStreaming);
MUSTER_DESCRIBE(Abandon);
MUSTER_DESCRIBE(GiveReport, evidence);
MUSTER_DESCRIBE(EndStart, failed_because);
MUSTER_DESCRIBE(WantElection, why);
MUSTER_DESCRIBE(AnswerOwner, refused_because);
MUSTER_DESCRIBE(Show, primary, open, replica, doing);

/// The orders that an instance performs. Each ends with an event.
using Performed =
    std::variant<Begin, End, Configure, ShowConf, CloseGate, FinishReplay, Look, Promote,
                 WriteMarker, AwaitMarker, AwaitLogGone, AwaitCopies, Kick, Checkpoint, Acknowledge,
                 EndAcknowledger, AwaitFollower, AwaitNoFollower, ReadLineage, WriteNote, Rewind,
                 Clone, AwaitStreaming>;
using What = boost::mp11::mp_append<
    Performed, std::variant<Abandon, GiveReport, EndStart, WantElection, AnswerOwner, Show>>;
struct Order {
  Round round;
  What what;
};
MUSTER_DESCRIBE(Order, round, what);
using Orders = std::vector<Order>;

// --- Events

struct Began {};
struct Ended {};
struct Configured {};
struct ConfShown {};
struct GateClosed {};
struct Replayed {};
struct Seen {
  Holding holding;
  /// The holding that the node recorded once, if its log does not show any more that it has that
  /// much.
  std::optional<Held> at_least{};
};
struct Promoted {};
struct MarkerWritten {
  Term term;
  Lsn end{};  ///< the end of the marker: a standby that has flushed up to here has it
};
struct MarkerHeld {};
struct LogGone {};
struct NoStandby {};
struct CopiesHold {};
struct Kicked {
  Lsn end{};  ///< the end of the record that was written
};
struct Checkpointed {};
struct Acknowledges {};
struct AcknowledgerGone {};
struct FollowerThere {};
struct FollowerGone {};
struct LineageRead {
  Lineage lineage;
};
struct Noted {};
struct Resynced {};
struct Streams {};
/// The order could not be performed.
struct Failed {
  std::string why;
  bool before_data = false;  ///< PostgreSQL ended before it looked at its data
};

/// PostgreSQL has ended without an order. Belongs to no round.
struct Died {
  std::string why;
};
/// A life of the node begins. Contains the note, if there is one, and the last holding that an
/// earlier life recorded. Belongs to no round.
struct Loaded {
  std::optional<Note> note;
  std::optional<Held> at_least;
};
/// The operator of the primary's node wants another node to be primary. Belongs to no round.
struct HandOverAsked {
  NodeId to;
};
/// The operator of a node wants its data thrown away and cloned again from the primary. Belongs to
/// no round.
struct RejoinAsked {};
/// The hooks of the node. They belong to no round. A `stop` has to end by its deadline. `Overdue`
/// comes early enough to shut PostgreSQL down before that deadline. `Overdue` also comes when a
/// shutdown for a hand-over takes too long.
struct StopCalled {
  bool leaving{};  ///< the operator stops the node, so no node receives the report
};
struct Overdue {};
struct StartCalled {
  GroupNumber group;
  Choice choice;
};
/// All members of the group have the group's definition in safe storage. Belongs to no round.
struct AllHaveIt {
  GroupNumber group;
};
MUSTER_DESCRIBE(Began);
MUSTER_DESCRIBE(Ended);
MUSTER_DESCRIBE(Configured);
MUSTER_DESCRIBE(ConfShown);
MUSTER_DESCRIBE(GateClosed);
MUSTER_DESCRIBE(Replayed);
MUSTER_DESCRIBE(Seen, holding, at_least);
MUSTER_DESCRIBE(Promoted);
MUSTER_DESCRIBE(MarkerWritten, term, end);
MUSTER_DESCRIBE(MarkerHeld);
MUSTER_DESCRIBE(LogGone);
MUSTER_DESCRIBE(NoStandby);
MUSTER_DESCRIBE(CopiesHold);
MUSTER_DESCRIBE(Kicked, end);
MUSTER_DESCRIBE(Checkpointed);
MUSTER_DESCRIBE(Acknowledges);
MUSTER_DESCRIBE(AcknowledgerGone);
MUSTER_DESCRIBE(FollowerThere);
MUSTER_DESCRIBE(FollowerGone);
MUSTER_DESCRIBE(LineageRead, lineage);
MUSTER_DESCRIBE(Noted);
MUSTER_DESCRIBE(Resynced);
MUSTER_DESCRIBE(Streams);
MUSTER_DESCRIBE(Failed, why, before_data);
MUSTER_DESCRIBE(Died, why);
MUSTER_DESCRIBE(Loaded, note, at_least);
MUSTER_DESCRIBE(HandOverAsked, to);
MUSTER_DESCRIBE(RejoinAsked);
MUSTER_DESCRIBE(StopCalled, leaving);
MUSTER_DESCRIBE(Overdue);
MUSTER_DESCRIBE(StartCalled, group, choice);
MUSTER_DESCRIBE(AllHaveIt, group);

using EndOfOrder = std::variant<Began, Ended, Configured, ConfShown, GateClosed, Replayed, Seen,
                                Promoted, MarkerWritten, MarkerHeld, LogGone, NoStandby, CopiesHold,
                                Kicked, Checkpointed, Acknowledges, AcknowledgerGone, FollowerThere,
                                FollowerGone, LineageRead, Noted, Resynced, Streams, Failed>;
using OfNoRound = std::variant<Died, Loaded, HandOverAsked, RejoinAsked, StopCalled, Overdue,
                               StartCalled, AllHaveIt>;
using AnyEvent = boost::mp11::mp_append<EndOfOrder, OfNoRound>;
struct KeeperEvent {
  Round round;
  AnyEvent what;
};
MUSTER_DESCRIBE(KeeperEvent, round, what);

}  // namespace muster::postgres
