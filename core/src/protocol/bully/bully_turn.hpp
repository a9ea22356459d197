#pragma once

#include "../turn_of.hpp"
#include "option_answers.hpp"

#include <string>
#include <utility>

namespace muster::bully {

/// One step of the Bully (Garcia-Molina 1982, Section III): takes one event and changes the state
/// of the node.
///
/// The member functions are the paper's procedures, under the paper's names and in its order. The
/// functions named `..._returned` are the statements that follow a CALL, or its ONTIMEOUT. A
/// comment that begins with "Departs from the paper" names each place at which the code differs
/// from the text. Pages cited as bully/... are in docs/protocols; there are the pseudo-code, and
/// the reason for each departure.
///
/// An option never changes a procedure. At certain points of the text `BullyTurn` asks
/// `OptionAnswers` (option_answers.hpp) for the answer, and without options the answer is the
/// paper's.
///
/// An object lives for one step only. The object is not thread-safe; the host gives one event at a
/// time.
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
  void on_event(const Recovered& event);
  void on_event(const Received& event);
  void take_letter(const Received& event);
  void on_event(const Unanswered& event);
  void on_event(const Failed& event);
  void on_event(const Expired& event);
  void on_event(const Paused& event);
  void on_event(const Stopped& event);
  void on_event(const Reorganized& event);
  void on_event(const Started& event);
  void on_event(const HookFailed& event);
  void on_event(const Leaving& event);
  void on_event(const ElectionAsked& event);
  void on_event(const Differing& event);

  // Remote procedures, immediate (bully/procedures.md).
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

  // Local procedures (bully/procedures.md). Election(i) is split into its phases.
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

  // Points that the paper leaves open (bully/decided.md).
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

  // Waits of the options, and their actions beside the paper's (waits.cpp).
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

  // A coordinator that has left its group (docs/decisions/left-behind.md).
  [[nodiscard]] Message question_to_coordinator() const;
  void coordinator_is_heard();
  void election_left_to_higher();
  [[nodiscard]] bool is_about_to_halt(NodeId j) const;

  // Nodes with another configuration (docs/decisions/differing.md).
  void await_the_outvoted();
  void take_part_again();
  void await_their_end();
  bool waits_to_rejoin();
  void may_rejoin();
  void rejoined();
  [[nodiscard]] bool is_candidate() const;
  [[nodiscard]] static bool may_be_at_work(const Result* result);

  // Statements that follow a CALL. A null `result` means that the call will never be answered:
  // ONTIMEOUT.
  void returned(NodeId by, CallNumber call, const Result* result);
  void higher_returned(NodeId by, const Result* result);
  void halt_returned(NodeId by, const Result* result);
  void new_coordinator_returned(NodeId by, const Result* result);
  void ready_returned(NodeId by, const Result* result);
  void question_returned(NodeId by, const Result* result);
  void normal_returned(NodeId by, const Result* result);
  void probe_returned(NodeId by, const Result* result);

  // Lines that the lab can strike (muster/protocol/lines.hpp). Each function is a test, or tells
  // whether the line is there. A test that has been struck always passes.
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

  // Helpers.
  void new_life_of(NodeId node);
  [[nodiscard]] bool halts_in_rounds() const { return options_.judge_order() == HaltOrder::rounds; }
  [[nodiscard]] bool halts(NodeId j) const {
    return j < config_.self || (halts_in_rounds() && j != config_.self);
  }
  [[nodiscard]] bool coordinates() const;
  [[nodiscard]] bool works_in_group() const;
  [[nodiscard]] bool is_normal_for(NodeId j, GroupNumber group) const;
  [[nodiscard]] bool waits_for_own_stop() const;
  [[nodiscard]] Members all_members() const;  // S(i).Up and this node
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
  std::optional<SafeState> safe_before_;  // set if the whole S(i) is kept, as in the paper
  Context context_;                       // only the time, until the event is taken
  OptionAnswers options_;
  bool rearm_coordinator_ = false;
  bool rearm_check_ = false;
};

}  // namespace muster::bully
