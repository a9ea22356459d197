#pragma once

#include "apps/postgres/decide/keeper.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace muster::postgres {

/// One step of a keeper. `on_event` handles calls of the node, and events that no order caused.
/// `on_result` continues after an order that succeeded, `failed` after an order that failed. The
/// other functions are the phases of the design and their helpers.
class KeeperTurn {
 public:
  KeeperTurn(const Settings& settings, Keeper& keeper) : settings_(settings), k_(keeper) {}
  Orders take(const KeeperEvent& event);

 private:
  // The hooks, and events that no order caused (keeper.cpp).
  void on_event(const Loaded& life);
  void on_event(const StopCalled& stop);
  void on_event(const Overdue&);
  void on_event(const StartCalled& start);
  void on_event(const AllHaveIt& it);
  void on_event(const Died& death);
  void on_event(const HandOverAsked& asked);
  void on_event(const RejoinAsked&);
  void died_while_resyncing();

  // Beginning (keeper.cpp).
  void begin();
  void on_result(const SealBeforeRecovery&, const Configured&) { order(Begin{}, Recovery{}); }
  void on_result(const Recovery&, const Began&);
  void failed(const SealBeforeRecovery&, const Failed& failure) { does_not_begin(failure); }
  void failed(const Recovery&, const Failed& failure) { does_not_begin(failure); }
  void runs_as_standby();
  void does_not_run(const Failed& failure);
  void does_not_begin(const Failed& failure);
  void go_on();
  void take_place();
  void nobody_writes();

  // `stop` (keeper_seal.cpp).
  void seal();
  void look() { order(Look{}, SealedHolding{}); }
  void on_result(const Seal&, const Configured&);
  void on_result(const Gate&, const GateClosed&) { look(); }
  void on_result(const ReplayEnd&, const Replayed&) { look(); }
  void on_result(const SealedHolding&, const Seen& seen);
  void on_result(const Ending& wait, const Ended&);
  void failed(const Seal&, const Failed&) { shut_down(true); }
  void failed(const Gate&, const Failed&) { shut_down(true); }
  void failed(const ReplayEnd&, const Failed&) { shut_down(true); }
  void failed(const SealedHolding&, const Failed&) { shut_down(true); }
  void failed(const Ending& wait, const Failed&) { shut_down(wait.overdue); }
  void shut_down(bool overdue);
  [[nodiscard]] bool has_lost() const;
  void lose();
  void report(const Evidence& evidence);
  [[nodiscard]] Evidence reported_while_resyncing() const;

  // Giving up the primary's role in order (keeper_leave.cpp).
  [[nodiscard]] std::string why_not(NodeId heir) const;
  void drain(std::optional<NodeId> heir);
  void on_result(const Draining& wait, const Ended&);
  void failed(const Draining&, const Failed&) { does_not_drain(); }
  void does_not_drain();

  // `start` of the primary (keeper_write.cpp).
  void write();
  void write_row();
  void await_marker_copies(const MarkerCopies& wait);
  void await_no_follower() { order(AwaitNoFollower{}, NoFollower{}); }
  void want_another();
  void let_clients_write(Lsn marker);
  void open();
  void on_result(const Promotion&, const Promoted&);
  void on_result(const GroupMarker&, const MarkerWritten& written);
  void on_result(const MarkerCopies&, const CopiesHold&) { open(); }
  void on_result(const Opening& wait, const Configured&) {
    order(ShowConf{}, OpeningShown{wait.marker});
  }
  void on_result(const OpeningShown& wait, const ConfShown&);
  void on_result(const Flushing&, const Checkpointed&) { look_after_copies(); }
  void failed(const Promotion&, const Failed& failure) { does_not_write(failure.why); }
  void failed(const GroupMarker&, const Failed& failure) { does_not_write(failure.why); }
  void on_result(const MarkerCopies& wait, const FollowerGone&);
  void failed(const MarkerCopies& wait, const Failed&);
  void failed(const Opening&, const Failed& failure) { does_not_write(failure.why); }
  void failed(const OpeningShown&, const Failed& failure) { does_not_write(failure.why); }
  void failed(const Flushing&, const Failed&) { look_after_copies(); }
  void on_result(const NoFollower&, const FollowerGone&);
  void failed(const NoFollower&, const Failed&) { await_no_follower(); }
  void does_not_write(const std::string& why);

  // With a witness (keeper_alone.cpp).
  [[nodiscard]] bool has_witness() const { return !settings_.copies.witnesses.empty(); }
  void go_on_alone();
  void acknowledge_alone() { order(Acknowledge{}, Acknowledging{}); }
  void look_after_copies();
  void await_follower() { order(AwaitFollower{}, Follower{}); }
  void demand();
  void take_last_before() { order(Kick{}, LastBefore{}); }
  void relax();
  void say_demanded();
  void on_result(const Acknowledging&, const Acknowledges&) { open(); }
  void on_result(const Follower&, const FollowerThere&) { demand(); }
  void on_result(const Demand&, const AcknowledgerGone&) { take_last_before(); }
  void on_result(const LastBefore&, const Kicked& last);
  void on_result(const DemandCopied&, const CopiesHold&) { say_demanded(); }
  void on_result(const DemandCopied&, const FollowerGone&) { relax(); }
  void on_result(const Relaxing&, const Acknowledges&) { await_follower(); }
  void failed(const Acknowledging&, const Failed& failure) { does_not_write(failure.why); }
  void failed(const Follower&, const Failed&) { await_follower(); }
  void failed(const Demand&, const Failed&) { relax(); }
  void failed(const LastBefore&, const Failed&) { relax(); }
  void failed(const DemandCopied&, const Failed&) { relax(); }
  void failed(const Relaxing&, const Failed&) { relax(); }

  // `start` of another node (keeper_follow.cpp).
  void follow();
  void follow_uncounted() { order(Configure{conf(false)}, Following{}); }
  void await_marker() {
    order(AwaitMarker{k_.place->group, *k_.place->choice.primary}, MarkerAwaited{});
  }
  void take_name() { order(Configure{conf(true)}, Naming{}); }
  void read_lineage(bool clone);
  void on_result(const Following&, const Configured&);
  void on_result(const MarkerAwaited&, const MarkerHeld&) { take_name(); }
  void await_log_gone() { order(AwaitLogGone{*k_.place->choice.primary}, LogKept{}); }
  void clone_instead();
  void on_result(const MarkerAwaited&, const LogGone&) { clone_instead(); }
  void on_result(const LogKept&, const LogGone&) { clone_instead(); }
  void on_result(const MarkerAwaited&, const NoStandby&) { clone_instead(); }
  void on_result(const LogKept&, const NoStandby&) { clone_instead(); }
  void failed(const LogKept&, const Failed&) { await_log_gone(); }
  void on_result(const Naming&, const Configured&);
  void failed(const MarkerAwaited&, const Failed&) { await_marker(); }
  void failed(const Naming&, const Failed&) { take_name(); }
  void on_result(const PrimaryLineage& wait, const LineageRead& read);
  void failed(const Following&, const Failed&);
  void failed(const PrimaryLineage& wait, const Failed&) { read_lineage(wait.clone); }

  // Rewinding or cloning (keeper_follow.cpp).
  [[nodiscard]] std::string why_no_rejoin() const;
  void follow_primary_while_resyncing();
  void look_again();
  void forget_resync();
  void resync(Way way);
  void note() { order(WriteNote{k_.note}, HeldNoted{}); }
  void end_before(Way way) { order(End{Shutdown::fast}, EndBeforeResync{way}); }
  void resync_by(Way way);
  void take_resync_name() {
    order(Configure{conf(!stands(Line::resynced_under_no_name))}, ResyncName{});
  }
  void note_goes() { order(WriteNote{}, NoteGone{}); }
  void on_result(const HeldNoted&, const Noted&);
  void on_result(const EndBeforeResync& wait, const Ended&);
  void on_result(const Resync&, const Resynced&);
  void on_result(const ResyncName&, const Configured&);
  void on_result(const ResyncedRecovery&, const Began&);
  void on_result(const Streaming&, const Streams&) { note_goes(); }
  void on_result(const NoteGone&, const Noted&);
  void failed(const HeldNoted&, const Failed&) { note(); }
  void failed(const EndBeforeResync& wait, const Failed&) { end_before(wait.way); }
  void failed(const Resync& wait, const Failed&);
  void failed(const ResyncName&, const Failed&) { take_resync_name(); }
  void failed(const ResyncedRecovery&, const Failed&);
  void failed(const Streaming&, const Failed&) { read_lineage(true); }
  void failed(const NoteGone&, const Failed&) { note_goes(); }

  template <class Awaited, class EventType>
  void end(const Awaited& awaited, const EventType& what);

  // Helpers (keeper.cpp).
  [[nodiscard]] bool stands(Line line) const { return postgres::stands(settings_.struck, line); }
  template <class... Waits>
  [[nodiscard]] bool awaits() const {
    return (std::holds_alternative<Waits>(k_.wait) || ...);
  }
  [[nodiscard]] bool writes() const {
    return k_.place && k_.place->choice.primary == settings_.self;
  }
  /// The node that this one follows, or is about to follow.
  [[nodiscard]] Source source() const;
  /// The settings of a standby of `source()`.
  [[nodiscard]] Conf conf(bool counts) const;
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
