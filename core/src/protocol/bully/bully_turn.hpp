#pragma once

#include "../turn_of.hpp"
#include "option_answers.hpp"

#include <string>
#include <utility>

namespace muster::bully {

/// One step: what one event makes of a node. The member functions are the paper's procedures under
/// its names and in its order, then how each CALL returns, then the words in which all this is
/// written. Where an option may leave the paper it asks (option_answers.hpp).
class BullyTurn : TurnOf<State> {
 public:
  BullyTurn(const Config& config, State& state, Moment now)
      : TurnOf(config, state, config.repairs.parallel_calls),
        repairs_(config.repairs),
        context_{now},
        options_(config, state, context_) {
    if (!repairs_.save_promises_only) safe_before_ = state.safe;
  }
  BullyTurn(const BullyTurn&) = delete;
  BullyTurn& operator=(const BullyTurn&) = delete;

  Actions take(const Event& event);

 private:
  // Events.
  void happened(const Recovered& event);
  void happened(const Received& event);
  void take_letter(const Received& event);
  void happened(const Unanswered& event);
  void happened(const Failed& event);
  void happened(const Expired& event);
  void happened(const Paused& event);
  void happened(const Stopped& event);
  void happened(const Reorganized& event);
  void happened(const Started& event);
  void happened(const HookFailed& event);
  void happened(const Leaving& event);
  void happened(const ElectionAsked& event);
  void happened(const Differing& event);

  // Remote procedures, immediate (section 3.1).
  void called(const Letter& letter, const AreYouThere& call);
  void called(const Letter& letter, const in_group::AreYouThere& call);
  void called(const Letter& letter, const AreYouNormal& call);
  void called(const Letter& letter, const Halt& call);
  void called(const Letter& letter, const NewCoordinator& call);
  void called(const Letter& letter, const Ready& call);
  void called(const Letter& letter, const Answer& answer);
  void called(const Letter& letter, const AreYouFree& call);
  template <class OfAnotherProtocol>
  void called(const Letter&, const OfAnotherProtocol&) {}

  // Local procedures (section 3.1), Election(i) by its phases.
  void election(NodeSet asked_in_vain = {});
  void ask_higher(bool all);
  void halt_lower();
  void halt_next(NodeId last);
  void halt_at_once();
  void halt_all(std::optional<std::vector<HaltedLife>> before);
  void election_point();
  void form_group();
  void announce();
  void reorganize_when_all_stopped();
  void make_ready();
  void send_ready();
  void ready(NodeId coordinator, CallNumber call);
  void own_ready();
  void start_own();
  void install();
  void normal_when_all_ready();
  void all_ready();
  void recovery();
  void begin(bool settled = false);
  void check();
  void timeout();

  // What the paper leaves open (section 3.3).
  void stop(StopCause cause);
  void refuse_waiting_calls();
  void stopped();
  void start_over(bool proven, NodeSet called_in_vain = {});
  void leave(LeaveCause cause);
  void depart();
  void fail();
  void lost_member();
  void ask_members();
  [[nodiscard]] Message question() const;
  void ask_normal(NodeId node);
  void ask_each_normal();
  void ask_next_normal();
  void count_quiet_check();
  void hook_failed();
  void recover(StopReason reason);

  // Where an option waits, or acts beside the paper (waits.cpp).
  void settle();
  void settled();
  void end_settling();
  void heard(NodeId node);
  void ask_free();
  void halt_when_enough_are_free();
  void await_majority(NodeSet answered, std::optional<Moment> free_from);
  [[nodiscard]] bool awaits_majority() const;
  void elect_for_a_new_one(NodeId asker);
  void ask_others();
  bool take_outsider(NodeId by, CallNumber call);
  void leave_out(NodeId j);
  void halt_alone(NodeId j);
  void end_right(const Event& event);
  void lose_right();
  void wait_of_option_returned(NodeId by, CallNumber call, const Result* result);
  void end_wait_of_option();
  void expired(Timer timer);
  void set_timers_of_options();
  void write_riders(std::optional<Moment> right_before);

  // A coordinator that left its group (docs/decisions/left-behind.md).
  [[nodiscard]] Message question_to_coordinator() const;
  void coordinator_is_heard();
  void election_left_to_higher();
  [[nodiscard]] bool is_about_to_halt(NodeId j) const;

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
  void returned(NodeId by, CallNumber call, const Result* result);
  void higher_returned(NodeId by, const Result* result);
  void halt_returned(NodeId by, const Result* result);
  void new_coordinator_returned(NodeId by, const Result* result);
  void ready_returned(NodeId by, const Result* result);
  void question_returned(NodeId by, const Result* result);
  void normal_returned(NodeId by, const Result* result);
  void probe_returned(NodeId by, const Result* result);

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
  [[nodiscard]] bool halts_once() const;
  [[nodiscard]] bool rounds_by_node() const;
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
  void new_life_of(NodeId node);
  [[nodiscard]] bool halts_in_rounds() const { return options_.judge_order() == HaltOrder::rounds; }
  [[nodiscard]] bool halts(NodeId j) const {
    return j < config_.self || (halts_in_rounds() && j != config_.self);
  }
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
  void end_procedure();
  void forget_group();
  void refuse(NodeId to, CallNumber call, Bound until, std::string why);
  void save();
  void keep_whole_state();
  void set_timers();

  const Repairs& repairs_;
  std::optional<SafeState> safe_before_;  // where the whole state is kept
  Context context_;                       // of the clock, and then of the event
  OptionAnswers options_;
  bool rearm_coordinator_ = false;
  bool rearm_check_ = false;
};

}  // namespace muster::bully
