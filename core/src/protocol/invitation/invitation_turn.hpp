#pragma once

#include "../turn_of.hpp"

#include <muster/protocol/invitation.hpp>

#include <string>
#include <utility>

namespace muster::invitation {

/// One step of the Invitation (Garcia-Molina 1982, Section IV): takes one event and changes the
/// state of the node. The Invitation does without assumptions 8 and 9: letters may be lost or late,
/// and nodes may pause. So several groups can work side by side, each with a number of its own, and
/// Assertions 3 and 4 are each about a single group.
///
/// The member functions are the paper's procedures, under the paper's names and in its order. The
/// functions named `..._returned` are the statements that follow a CALL, or its ONTIMEOUT. A
/// comment that begins with "Departs from the paper" names each place at which the code differs
/// from the text. Pages cited as invitation/... are in docs/protocols.
///
/// An object lives for one step only, and is not thread-safe.
class InvitationTurn : private TurnOf<State> {
 public:
  InvitationTurn(const Config& config, State& state)
      : TurnOf(config, state, config.invitation_repairs.parallel_calls),
        repairs_(config.invitation_repairs) {}

  Actions take(const Event& event);

 private:
  // Events.
  void on_event(const Recovered& event);
  void on_event(const Received& event);
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

  // Remote procedures (invitation/procedures.md).
  void called(const Letter& letter, const AreYouCoordinator& call);
  void called(const Letter& letter, const AreYouThere& call);
  void called(const Letter& letter, const Accept& call);
  void called(const Letter& letter, const Ready& call);
  void called(const Letter& letter, const Invitation& call);
  void called(const Letter& letter, const Answer& answer);
  template <class OfAnotherProtocol>
  void called(const Letter&, const OfAnotherProtocol&) {}

  // The rest of Invitation(i, j, gn).
  void forward();
  void accept_when_stopped();

  // Local procedures (invitation/procedures.md). Merge(i, K) is split into its phases.
  void fresh();
  void recovery(StopReason reason);
  void check();
  void give_way(NodeSet found);
  void back_off(NodeSet found);
  void merge(const NodeSet& found);
  void invite();
  void reorganize_when_all_accepted();
  void reorganize();
  void make_ready();
  void send_ready();
  void start_own();
  void normal_when_all_ready();
  void timeout();

  // Points that the paper leaves open (invitation/decided.md).
  void stop(StopCause cause);
  void stopped();
  void come_to_nothing();
  void go_on_without(NodeId refuser);
  void lost_member(NodeId node, Incarnation life);
  void leave(LeaveCause cause);
  void depart();
  void fail();
  void hook_failed();
  void take_part_again(StopReason reason);

  // Statements that follow a CALL. A null `result` means that the call will never be answered:
  // ONTIMEOUT.
  void returned(NodeId by, CallNumber call, const Result* result);
  void coordinator_returned(NodeId by, const Result* result);
  void check_returned();
  void invitation_returned(NodeId by, const Result* result);
  void forward_returned(NodeId by, const Result* result);
  void accept_returned(const Result* result);
  void ready_returned(NodeId by, const Result* result);
  void probe_returned(const Result* result);

  // Helpers.
  [[nodiscard]] bool coordinates() const { return state_.c == config_.self; }
  void drop(NodeId node);
  void end_procedure();
  void refuse(NodeId to, CallNumber call, Result unreported, std::string why);
  void refuse_owed(const std::string& why);
  void learn(std::uint64_t counter);
  void save();
  void set_timers();

  const Repairs& repairs_;
  bool rearm_check_ = false;
  bool rearm_coordinator_ = false;
};

}  // namespace muster::invitation
