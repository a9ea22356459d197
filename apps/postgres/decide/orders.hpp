#pragma once

#include "apps/postgres/decide/values.hpp"

#include <boost/mp11/algorithm.hpp>

#include <string>
#include <variant>
#include <vector>

/// The orders of a keeper (keeper.hpp) to its PostgreSQL. A real one performs them
/// (perform/instance.hpp), or the lab's model (lab/postgres_world.hpp). Each order is performed
/// once and ends with the happening beside it or with `Failed`, under the same round. Orders of one
/// answer are performed one after the other. `Abandon` ends what is going on: no more is heard of
/// it.

namespace muster::postgres {

/// Counts what a keeper has set out to do: what ends under another round than the present one is
/// late.
struct Round {
  std::uint64_t value{};
  friend auto operator<=>(const Round&, const Round&) = default;
};
MUSTER_DESCRIBE(Round, value);

/// `synchronous_standby_names`. Never relaxed, never empty; but with a witness, who keeps the
/// promise that it is so.
enum class Names {
  sealed,  ///< 'ANY 1 (muster_halted)': nobody has that name, so no commit is acknowledged
  open,    ///< 'ANY W-1 (n1, ..., nN)'
  alone,   ///< '': no commit waits
};
MUSTER_DESCRIBE_ENUM(Names, sealed, open, alone)

/// `muster.conf`, which stands beside the data directory. Sealed is read-only by default, too.
struct Conf {
  Names names = Names::sealed;
  std::optional<NodeId> follows;  ///< `primary_conninfo`; none: nobody
  bool mending{};                 ///< is called mend_nX, a name in no list, instead of nX
  /// In which it follows, and by no other: `primary_slot_name` names it, and the primary makes a
  /// slot for each node with the row of that group. So no standby counts twice, or finds another
  /// log at the same address.
  GroupNumber group{};
};
MUSTER_DESCRIBE(Conf, names, follows, mending, group);

enum class Shutdown {
  fast,      ///< where it is primary, when its standbys have all that it has written
  immediate  ///< as in a crash
};
MUSTER_DESCRIBE_ENUM(Shutdown, fast, immediate)

// --- Orders, and how each ends
// ------------------------------------------------------------------------------------

/// Start PostgreSQL as a standby, whatever it was, with muster.conf as it stands, when no process
/// of an earlier one is left. `Began` when it has recovered to the end of its log and answers.
struct Begin {};
/// Shut it down, every process of it. `Ended`.
struct End {
  Shutdown how{};
};
/// Make muster.conf durable; then SIGHUP, where it runs. `Configured`.
struct Configure {
  Conf conf;
};
/// Open new connections until one shows these names. `NamesShown`.
struct ShowNames {
  Names names{};
};
/// Terminate the walsenders that are there, and wait until their processes are gone.
/// `WalsendersGone`.
struct EndWalsenders {};
/// On a standby: no walreceiver, and all that it had received is replayed. Sessions that hold the
/// replay back are ended. `Replayed`.
struct FinishReplay {};
/// `Seen`.
struct Look {};
/// Promote. `Promoted`.
struct Promote {};
/// Make the slots of that group, those of others go; write its row, with `synchronous_commit =
/// local`. `TermWritten`.
struct WriteTerm {
  GroupNumber group;
};
/// Until W - 1 standbys have flushed that position; of a row, `TermWritten::end`. `CopiesHold`, or
/// `FollowerGone` where it is bounded.
struct AwaitCopies {
  Lsn lsn;
  bool bounded = false;  ///< there may be another way, when none gets more for a while
};
/// Write any log record, so that sessions that wait for copies look again. `Kicked`.
struct Kick {};
/// `Checkpointed`: a checkpoint that began after the order, so the process that makes them, and
/// tells all sessions whether commits wait, has taken the names that new connections show.
struct Checkpoint {};
/// Until another node follows under its own name, and has what was written when it was seen;
/// `FollowerThere`.
struct AwaitFollower {};
/// Until fewer than W - 1 have all that is written, or get further, for a while; `FollowerGone`.
struct AwaitNoFollower {};
/// Ask that primary for its log's lineage when it has the row of that group. `LineageRead`.
struct ReadLineage {
  NodeId of;
  GroupNumber group;
};
/// Make the note durable; none: it goes. `Noted`.
struct WriteNote {
  std::optional<Note> note;
};
/// PostgreSQL is down: pg_rewind from that node, after a CHECKPOINT there. `Mended`.
struct Rewind {
  NodeId from;
};
/// A new copy by pg_basebackup, which then takes the place of the old one. `Mended`.
struct Clone {
  NodeId from;
};
/// Until it is consistent and streams. `Streams`.
struct AwaitStreaming {};
/// What is going on is of no use any more. Ends with nothing.
struct Abandon {};

// --- What the node is told: ends with nothing
// ------------------------------------------------------------------------------------

/// The end of `stop`.
struct GiveReport {
  Evidence evidence;
};
/// The end of `start`; with a reason, it failed.
struct EndStart {
  std::string failed_because;
};
/// An election is wanted.
struct WantElection {
  std::string why;
};
/// To `HandOverAsked` and `RejoinAsked`, at once.
struct AnswerOwner {
  std::string refused_because;  ///< empty: it is being done
};
/// What it is for those who watch it.
struct Show {
  bool primary{}, open{}, replica{};
  std::string doing;  ///< in words
};
MUSTER_DESCRIBE(Begin);
MUSTER_DESCRIBE(End, how);
MUSTER_DESCRIBE(Configure, conf);
MUSTER_DESCRIBE(ShowNames, names);
MUSTER_DESCRIBE(EndWalsenders);
MUSTER_DESCRIBE(FinishReplay);
MUSTER_DESCRIBE(Look);
MUSTER_DESCRIBE(Promote);
MUSTER_DESCRIBE(WriteTerm, group);
MUSTER_DESCRIBE(AwaitCopies, lsn, bounded);
MUSTER_DESCRIBE(Kick);
MUSTER_DESCRIBE(Checkpoint);
MUSTER_DESCRIBE(AwaitFollower);
MUSTER_DESCRIBE(AwaitNoFollower);
MUSTER_DESCRIBE(ReadLineage, of, group);
MUSTER_DESCRIBE(WriteNote, note);
MUSTER_DESCRIBE(Rewind, from);
MUSTER_DESCRIBE(Clone, from);
MUSTER_DESCRIBE(AwaitStreaming);
MUSTER_DESCRIBE(Abandon);
MUSTER_DESCRIBE(GiveReport, evidence);
MUSTER_DESCRIBE(EndStart, failed_because);
MUSTER_DESCRIBE(WantElection, why);
MUSTER_DESCRIBE(AnswerOwner, refused_because);
MUSTER_DESCRIBE(Show, primary, open, replica, doing);

/// The orders that an instance performs. Each ends with a happening.
using Performed =
    std::variant<Begin, End, Configure, ShowNames, EndWalsenders, FinishReplay, Look, Promote,
                 WriteTerm, AwaitCopies, Kick, Checkpoint, AwaitFollower, AwaitNoFollower,
                 ReadLineage, WriteNote, Rewind, Clone, AwaitStreaming>;
using What = boost::mp11::mp_append<
    Performed, std::variant<Abandon, GiveReport, EndStart, WantElection, AnswerOwner, Show>>;
struct Order {
  Round round;
  What what;
};
MUSTER_DESCRIBE(Order, round, what);
using Orders = std::vector<Order>;

// --- Happenings
// ------------------------------------------------------------------------------------

struct Began {};
struct Ended {};
struct Configured {};
struct NamesShown {};
struct WalsendersGone {};
struct Replayed {};
struct Seen {
  Holding holding;
};
struct Promoted {};
struct TermWritten {
  Term term;
  Lsn end{};  ///< who has flushed so far holds the row; `term.lsn` is before it
};
struct CopiesHold {};
struct Kicked {
  Lsn end{};  ///< of what was written
};
struct Checkpointed {};
struct FollowerThere {};
struct FollowerGone {};
struct LineageRead {
  Lineage lineage;
};
struct Noted {};
struct Mended {};
struct Streams {};
/// The order could not be performed.
struct Failed {
  std::string why;
  bool before_data = false;  ///< PostgreSQL ended before it looked at its data
};

/// PostgreSQL has ended, and nobody had ordered it. Of no round.
struct Died {
  std::string why;
};
/// A life of the node begins: with the note that stands there, if one does, and what its data was
/// seen to hold in a life before. Of no round.
struct Loaded {
  std::optional<Note> note;
  std::optional<Held> at_least;
};
/// The owner of the primary's node wants another to be primary. Of no round.
struct HandOverAsked {
  NodeId to;
};
/// The owner of a node wants its data thrown away, and its primary's in its place. Of no round.
struct RejoinAsked {};
/// The hooks. Of no round. A `stop` has to be over by its deadline: `Overdue` comes in time to shut
/// down before it; also where a shutdown to hand over takes long.
struct StopCalled {
  bool leaving{};  ///< the node's owner wants it out: nobody hears the report
};
struct Overdue {};
struct StartCalled {
  GroupNumber group;
  Choice choice;
};
/// All members of that group have its definition in safe storage. Of no round.
struct AllHaveIt {
  GroupNumber group;
};
MUSTER_DESCRIBE(Began);
MUSTER_DESCRIBE(Ended);
MUSTER_DESCRIBE(Configured);
MUSTER_DESCRIBE(NamesShown);
MUSTER_DESCRIBE(WalsendersGone);
MUSTER_DESCRIBE(Replayed);
MUSTER_DESCRIBE(Seen, holding);
MUSTER_DESCRIBE(Promoted);
MUSTER_DESCRIBE(TermWritten, term, end);
MUSTER_DESCRIBE(CopiesHold);
MUSTER_DESCRIBE(Kicked, end);
MUSTER_DESCRIBE(Checkpointed);
MUSTER_DESCRIBE(FollowerThere);
MUSTER_DESCRIBE(FollowerGone);
MUSTER_DESCRIBE(LineageRead, lineage);
MUSTER_DESCRIBE(Noted);
MUSTER_DESCRIBE(Mended);
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

using EndOfOrder =
    std::variant<Began, Ended, Configured, NamesShown, WalsendersGone, Replayed, Seen, Promoted,
                 TermWritten, CopiesHold, Kicked, Checkpointed, FollowerThere, FollowerGone,
                 LineageRead, Noted, Mended, Streams, Failed>;
using OfNoRound = std::variant<Died, Loaded, HandOverAsked, RejoinAsked, StopCalled, Overdue,
                               StartCalled, AllHaveIt>;
using HasHappened = boost::mp11::mp_append<EndOfOrder, OfNoRound>;
struct Happening {
  Round round;
  HasHappened what;
};
MUSTER_DESCRIBE(Happening, round, what);

}  // namespace muster::postgres
