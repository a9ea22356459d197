#pragma once

#include "../turn_of.hpp"

#include <muster/protocol/bully.hpp>

#include <string>
#include <utility>

namespace muster::bully {

/// One step: what one event makes of a node. The member functions are the paper's procedures under
/// its names and in its order, then how each CALL returns, then the words in which all this is
/// written. What is virtual here is where options leave the paper (turn_with_options.hpp).
class Turn : protected TurnOf<State> {
 public:
  Turn(const Config& config, State& state)
      : TurnOf(config, state, config.repairs.parallel_calls), repairs_(config.repairs) {
    if (!repairs_.save_promises_only) safe_before_ = state.safe;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  virtual ~Turn() = default;

  virtual Actions take(const Event& event);

 protected:
  // Events.
  void happened(const Recovered& event);
  virtual void happened(const Received& event);
  virtual void happened(const Unanswered& event);
  virtual void happened(const Failed& event);
  virtual void happened(const Expired& event);
  virtual void happened(const Paused& event);
  void happened(const Stopped& event);
  void happened(const Reorganized& event);
  void happened(const Started& event);
  void happened(const HookFailed& event);
  void happened(const Leaving& event);
  void happened(const ElectionAsked& event);
  void happened(const Differing& event);

  // Remote procedures, immediate (section 3.1).
  virtual void called(const Letter& letter, const AreYouThere& call);
  void called(const Letter& letter, const in_group::AreYouThere& call);
  virtual void called(const Letter& letter, const AreYouNormal& call);
  void called(const Letter& letter, const Halt& call);
  virtual void called(const Letter& letter, const NewCoordinator& call);
  void called(const Letter& letter, const Ready& call);
  void called(const Letter& letter, const Answer& answer);
  virtual void called(const Letter&, const AreYouFree&) {}  // docs/options/quorum.md
  template <class OfAnotherProtocol>
  void called(const Letter&, const OfAnotherProtocol&) {}

  // Local procedures (section 3.1), Election(i) by its phases.
  virtual void election(NodeSet asked_in_vain = {});
  void ask_higher(bool all);
  virtual void halt_lower();
  virtual void halt_next(NodeId last);
  void halt_at_once();
  void halt_all(std::optional<std::vector<HaltedLife>> before);
  virtual void election_point();
  void announce();
  void reorganize_when_all_stopped();
  [[nodiscard]] virtual bool others_have_ceased() { return true; }  // docs/options/quorum.md
  virtual void make_ready();
  void send_ready();
  virtual void ready(NodeId coordinator, CallNumber call);
  virtual void own_ready();
  void start_own();
  void install();
  void normal_when_all_ready();
  virtual void all_ready();
  void recovery();
  virtual void begin() { election(); }
  void check();
  void timeout();

  // What the paper leaves open (section 3.3).
  virtual void stop(StopCause cause);
  void refuse_waiting_calls();
  void stopped();
  void start_over(bool proven, NodeSet called_in_vain = {});
  void leave(LeaveCause cause);
  void depart();
  virtual void fail();
  void lost_member();
  virtual void ask_members();
  [[nodiscard]] virtual Message question() const { return AreYouThere{}; }
  void ask_normal(NodeId node);
  void ask_each_normal();
  void ask_next_normal();
  void count_quiet_check();
  void hook_failed();
  void recover(StopReason reason);

  // A coordinator that left its group (docs/decisions/left-behind.md).
  [[nodiscard]] Message question_to_coordinator() const;
  void coordinator_is_heard();
  virtual void election_left_to_higher();
  [[nodiscard]] virtual bool is_about_to_halt(NodeId j) const;

  // Others that differ (docs/decisions/differing.md).
  void await_the_outvoted();
  void take_part_again();
  void await_their_end();
  bool waits_to_rejoin();
  void may_rejoin();
  void rejoined();
  [[nodiscard]] bool is_candidate() const;
  [[nodiscard]] static bool may_be_at_work(const Result* result);

  // How a CALL returns; `result` is null where it never will: ONTIMEOUT.
  virtual void returned(NodeId by, CallNumber call, const Result* result);
  virtual void higher_returned(NodeId by, const Result* result);
  virtual void halt_returned(NodeId by, const Result* result);
  virtual void new_coordinator_returned(NodeId by, const Result* result);
  virtual void ready_returned(NodeId by, const Result* result);
  virtual void question_returned(NodeId by, const Result* result);
  virtual void normal_returned(NodeId by, const Result* result);
  virtual void probe_returned(NodeId by, const Result* result);

  // Lines that the lab can take out (muster/protocol/lines.hpp): each a test, or whether it
  // stands; a test that was taken out is passed.
  [[nodiscard]] bool stands(Line line) const;
  [[nodiscard]] bool leaving_answers() const;
  [[nodiscard]] bool newer_halts_only(NodeId j, const ElectionId& election);
  [[nodiscard]] bool unconditional_halt(NodeId j) const;
  [[nodiscard]] bool status_test_of_new_coordinator() const;
  [[nodiscard]] bool h_test(const ElectionId& election) const;
  [[nodiscard]] bool counter_test(std::uint64_t counter) const;
  [[nodiscard]] bool status_test_of_ready() const;
  [[nodiscard]] bool c_test(const ElectionId& election) const;
  [[nodiscard]] bool life_test(Incarnation receiver) const;
  [[nodiscard]] bool same_election() const;
  [[nodiscard]] bool stop_ends_election() const;
  [[nodiscard]] bool stop_refuses_waiting_calls() const;
  [[nodiscard]] bool halts_one_by_one() const;
  [[nodiscard]] bool halts_descending() const;
  [[nodiscard]] bool halts_to_all() const;
  [[nodiscard]] virtual bool halts_once() const;
  [[nodiscard]] virtual bool rounds_by_node() const;
  [[nodiscard]] bool rounds_until_alike() const;
  [[nodiscard]] bool refusal_starts_over() const;
  [[nodiscard]] bool reorganize_after_stops(const Announcing& wait) const;
  [[nodiscard]] bool safe_counter() const;
  [[nodiscard]] bool h_undefined_at_recovery() const;
  [[nodiscard]] bool down_at_recovery() const;
  [[nodiscard]] bool self_timeout() const;
  [[nodiscard]] bool timeout_unless_normal() const;
  [[nodiscard]] bool failed_spares_no_question() const;
  [[nodiscard]] bool question_names_group() const;
  [[nodiscard]] bool elsewhere_recovers() const;
  [[nodiscard]] bool second_election_recovers() const;

  // Words.
  virtual void new_life_of(NodeId node) { owe_nothing(node); }
  [[nodiscard]] virtual bool halts(NodeId j) const { return j < config_.self; }
  [[nodiscard]] bool coordinates() const;
  [[nodiscard]] bool works_in_group() const;
  [[nodiscard]] bool is_normal_for(NodeId j, GroupNumber group) const;
  [[nodiscard]] bool waits_for_own_stop() const;
  [[nodiscard]] Members all_members() const;  // S(i).Up and itself
  [[nodiscard]] ElectionId own_election() const {
    return {config_.self, state_.safe.incarnation, state_.elections};
  }
  [[nodiscard]] Bound halt_bound() const {
    return repairs_.stop_beside_halts ? Bound::answer : Bound::stopped;
  }
  [[nodiscard]] std::optional<NodeId> next_to_halt(NodeId last) const;
  [[nodiscard]] bool elects(const std::optional<ElectionId>& kept, const ElectionId& named) const;
  [[nodiscard]] NodeSet in_vain(NodeId by, const Result* result) const;
  [[nodiscard]] static bool asks(const Calls& calls, NodeId node);
  [[nodiscard]] Calls* questions();
  virtual void end_procedure();
  virtual void forget_group();
  void refuse(NodeId to, CallNumber call, Bound until, std::string why);
  void save();
  void keep_whole_state();
  virtual void set_timers();

  const Repairs& repairs_;
  std::optional<SafeState> safe_before_;  // where the whole state is kept
  bool rearm_coordinator_ = false;
  bool rearm_check_ = false;
};

}  // namespace muster::bully
