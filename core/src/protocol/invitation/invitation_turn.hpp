#pragma once

#include "../turn_of.hpp"

#include <muster/protocol/invitation.hpp>

#include <string>
#include <utility>

namespace muster::invitation {

/// One step: what one event makes of a node. The member functions are the paper's procedures under
/// its names and in its order, then how each CALL returns, then the words in which all this is
/// written.
class InvitationTurn : private TurnOf<State> {
 public:
  InvitationTurn(const Config& config, State& state)
      : TurnOf(config, state, config.invitation_repairs.parallel_calls),
        repairs_(config.invitation_repairs) {}

  Actions take(const Event& event);

 private:
  // Events.
  void happened(const Recovered& event);
  void happened(const Received& event);
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

  // Remote procedures (section 4.1).
  void called(const Letter& letter, const AreYouCoordinator& call);
  void called(const Letter& letter, const AreYouThere& call);
  void called(const Letter& letter, const Accept& call);
  void called(const Letter& letter, const Ready& call);
  void called(const Letter& letter, const Invitation& call);
  void called(const Letter& letter, const Answer& answer);
  template <class OfAnotherProtocol>
  void called(const Letter&, const OfAnotherProtocol&) {}

  // Invitation(i, j, gn) goes on.
  void forward();
  void accept_when_stopped();

  // Local procedures (section 4.1), Merge(i, K) by its phases.
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

  // What the paper leaves open (docs/decisions/invitation.md).
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

  // How a CALL returns; `result` is null where it never will: ONTIMEOUT.
  void returned(NodeId by, CallNumber call, const Result* result);
  void coordinator_returned(NodeId by, const Result* result);
  void check_returned();
  void invitation_returned(NodeId by, const Result* result);
  void forward_returned(NodeId by, const Result* result);
  void accept_returned(const Result* result);
  void ready_returned(NodeId by, const Result* result);
  void probe_returned(const Result* result);

  // Words.
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
