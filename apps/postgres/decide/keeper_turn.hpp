#pragma once

#include "apps/postgres/decide/keeper.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace muster::postgres {

/// One step of a keeper. `came` says what the node and what comes by itself make of it, `ended`
/// what follows a wait, and `failed` what does where it was in vain; what is left are the phases of
/// the design, and the words in which they are written.
class KeeperTurn {
 public:
  KeeperTurn(const Settings& settings, Keeper& keeper) : settings_(settings), k_(keeper) {}
  Orders take(const Happening& happening);

 private:
  // The hooks, and what comes by itself (keeper.cpp).
  void came(const Loaded& life);
  void came(const StopCalled& stop);
  void came(const Overdue&);
  void came(const StartCalled& start);
  void came(const AllHaveIt& it);
  void came(const Died& death);
  void came(const HandOverAsked& asked);
  void came(const RejoinAsked&);
  void died_while_mended();

  // Beginning (keeper.cpp).
  void begin();
  void ended(const SealBeforeRecovery&, const Configured&) { order(Begin{}, Recovery{}); }
  void ended(const Recovery&, const Began&);
  void failed(const SealBeforeRecovery&, const Failed& failure) { does_not_begin(failure); }
  void failed(const Recovery&, const Failed& failure) { does_not_begin(failure); }
  void runs_as_standby();
  void does_not_run(const Failed& failure);
  void does_not_begin(const Failed& failure);
  void go_on();
  void take_place();
  void nobody_writes();

  // Stop (seal.cpp).
  void seal();
  void end_walsenders() { order(EndWalsenders{}, WalsendersEnd{}); }
  void look() { order(Look{}, SealedHolding{}); }
  void ended(const Seal&, const Configured&);
  void ended(const SealShown&, const NamesShown&) { end_walsenders(); }
  void ended(const WalsendersEnd&, const WalsendersGone&) { look(); }
  void ended(const ReplayEnd&, const Replayed&) { look(); }
  void ended(const SealedHolding&, const Seen& seen);
  void ended(const Ending& wait, const Ended&);
  void failed(const Seal&, const Failed&) { shut_down(true); }
  void failed(const SealShown&, const Failed&) { shut_down(true); }
  void failed(const WalsendersEnd&, const Failed&) { shut_down(true); }
  void failed(const ReplayEnd&, const Failed&) { shut_down(true); }
  void failed(const SealedHolding&, const Failed&) { shut_down(true); }
  void failed(const Ending& wait, const Failed&) { shut_down(wait.overdue); }
  void shut_down(bool overdue);
  [[nodiscard]] bool has_lost() const;
  void lose();
  void report(const Evidence& evidence);
  [[nodiscard]] Evidence reported_while_mended() const;

  // Being primary no more, in order (leave.cpp).
  [[nodiscard]] std::string why_not(NodeId heir) const;
  void drain(std::optional<NodeId> heir);
  void ended(const Draining& wait, const Ended&);
  void failed(const Draining&, const Failed&) { does_not_drain(); }
  void does_not_drain();

  // Start, primary (write.cpp).
  void write();
  void write_row();
  void await_row_copies(const RowCopies& wait);
  void await_no_follower() { order(AwaitNoFollower{}, NoFollower{}); }
  void want_another();
  void open();
  void ended(const Promotion&, const Promoted&);
  void ended(const GroupRow&, const TermWritten& written);
  void ended(const RowCopies&, const CopiesHold&) { open(); }
  void ended(const Opening&, const Configured&) { order(ShowNames{names()}, OpeningShown{}); }
  void ended(const OpeningShown&, const NamesShown&);
  void ended(const Release&, const Kicked&) { order(Checkpoint{}, Flushing{}); }
  void ended(const Flushing&, const Checkpointed&) { look_after_copies(); }
  void failed(const Promotion&, const Failed& failure) { does_not_write(failure.why); }
  void failed(const GroupRow&, const Failed& failure) { does_not_write(failure.why); }
  void ended(const RowCopies& wait, const FollowerGone&);
  void failed(const RowCopies& wait, const Failed&);
  void failed(const Opening&, const Failed& failure) { does_not_write(failure.why); }
  void failed(const OpeningShown&, const Failed& failure) { does_not_write(failure.why); }
  void failed(const Release&, const Failed& failure) { does_not_write(failure.why); }
  void failed(const Flushing&, const Failed&) { look_after_copies(); }
  void ended(const NoFollower&, const FollowerGone&);
  void failed(const NoFollower&, const Failed&) { await_no_follower(); }
  void does_not_write(const std::string& why);

  // With a witness (alone.cpp).
  [[nodiscard]] bool has_witness() const { return !settings_.copies.witnesses.empty(); }
  [[nodiscard]] Names names() const;
  void go_on_alone();
  void look_after_copies();
  void await_follower() { order(AwaitFollower{}, Follower{}); }
  void demand();
  void take_last_before() { order(Kick{}, LastBefore{}); }
  void relax();
  void say_demanded();
  void ended(const Follower&, const FollowerThere&) { demand(); }
  void ended(const Demand&, const Configured&) { order(ShowNames{Names::open}, DemandShown{}); }
  void ended(const DemandShown&, const NamesShown&);
  void ended(const DemandInForce&, const Checkpointed&) { take_last_before(); }
  void ended(const LastBefore&, const Kicked& last);
  void ended(const DemandCopied&, const CopiesHold&) { say_demanded(); }
  void ended(const DemandCopied&, const FollowerGone&) { relax(); }
  void ended(const Relaxing&, const Configured&) { await_follower(); }
  void failed(const Follower&, const Failed&) { await_follower(); }
  void failed(const Demand&, const Failed&) { relax(); }
  void failed(const DemandShown&, const Failed&) { relax(); }
  void failed(const DemandInForce&, const Failed&) { relax(); }
  void failed(const LastBefore&, const Failed&) { relax(); }
  void failed(const DemandCopied&, const Failed&) { relax(); }
  void failed(const Relaxing&, const Failed&) { relax(); }

  // Start, others (follow.cpp).
  void follow();
  void read_lineage(bool clone);
  void ended(const Following&, const Configured&);
  void ended(const PrimaryLineage& wait, const LineageRead& read);
  void failed(const Following&, const Failed&);
  void failed(const PrimaryLineage& wait, const Failed&) { read_lineage(wait.clone); }

  // Mending (follow.cpp).
  [[nodiscard]] std::string why_no_rejoin() const;
  void follow_primary_while_mended();
  void look_again();
  void forget_mending();
  void mend(Way way);
  void note() { order(WriteNote{k_.note}, HeldNoted{}); }
  void end_before(Way way) { order(End{Shutdown::fast}, EndBeforeMending{way}); }
  void mend_by(Way way);
  void take_mending_name() { order(Configure{conf(true)}, MendingName{}); }
  void note_goes() { order(WriteNote{}, NoteGone{}); }
  void ended(const HeldNoted&, const Noted&);
  void ended(const EndBeforeMending& wait, const Ended&);
  void ended(const Mend&, const Mended&);
  void ended(const MendingName&, const Configured&);
  void ended(const MendedRecovery&, const Began&);
  void ended(const Streaming&, const Streams&) { note_goes(); }
  void ended(const NoteGone&, const Noted&);
  void failed(const HeldNoted&, const Failed&) { note(); }
  void failed(const EndBeforeMending& wait, const Failed&) { end_before(wait.way); }
  void failed(const Mend& wait, const Failed&);
  void failed(const MendingName&, const Failed&) { take_mending_name(); }
  void failed(const MendedRecovery&, const Failed&);
  void failed(const Streaming&, const Failed&) { read_lineage(true); }
  void failed(const NoteGone&, const Failed&) { note_goes(); }

  template <class Awaited, class Happened>
  void end(const Awaited& awaited, const Happened& what);

  // The words in which this is written (keeper.cpp).
  [[nodiscard]] bool stands(Line line) const { return postgres::stands(settings_.struck, line); }
  template <class... Waits>
  [[nodiscard]] bool awaits() const {
    return (std::holds_alternative<Waits>(k_.wait) || ...);
  }
  [[nodiscard]] bool writes() const {
    return k_.place && k_.place->choice.primary == settings_.self;
  }
  /// Whom it follows, or is to.
  [[nodiscard]] Source source() const;
  [[nodiscard]] Conf conf(bool mending) const;
  void order(What what, const Wait& wait);
  void tell(What what) { orders_.push_back({k_.round, std::move(what)}); }
  void rest() { k_.wait = TheNode{}; }
  void new_course();
  void end_start(std::string failed_because = {});
  void show();

  const Settings& settings_;
  Keeper& k_;
  Orders orders_;
};

}  // namespace muster::postgres
