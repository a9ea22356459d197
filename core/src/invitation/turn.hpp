#pragma once

#include <muster/invitation.hpp>

#include <string>
#include <utility>

namespace muster::invitation {

/// One step: what one event makes of a node. The member functions are the paper's procedures under
/// its names and in its order, then how each CALL returns, then the words in which all this is
/// written.
class Turn {
 public:
  /// So many Checks in a row that found nothing let the level of `retry` fall back.
  static constexpr unsigned quiet_enough = 10;
  /// The level at which `retry` no longer doubles: T, 2 T, 4 T, 8 T.
  static constexpr unsigned highest_level = 4;
  /// So many hooks that fail in a row make a node stand back.
  static constexpr unsigned too_many_failures = 3;
  /// Every save lifts the counter limit this far above the counter, so that few saves are needed.
  static constexpr std::uint64_t counters_ahead = 16;

  Turn(const Config& config, State& state)
      : config_(config), repairs_(config.invitation_repairs), state_(state) {}

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
  void lost_member(NodeId node, Incarnation life);
  void leave(LeaveCause cause);
  void depart();
  void fail();
  void hook_failed();

  // How a CALL returns; `result` is null where it never will: ONTIMEOUT.
  void returned(NodeId by, CallNumber call, const Result* result);
  void coordinator_returned(NodeId by, const Result* result);
  void check_returned();
  void invitation_returned(NodeId by, const Result* result);
  void forward_returned(NodeId by, const Result* result);
  void accept_returned(const Result* result);
  void ready_returned(const Result* result);
  void probe_returned(const Result* result);

  // Words.
  template <class Wait>
  [[nodiscard]] bool runs() const {
    return std::holds_alternative<Wait>(state_.procedure);
  }
  [[nodiscard]] bool coordinates() const { return state_.c == config_.self; }
  [[nodiscard]] Member* member(NodeId node);
  void drop(NodeId node);
  void end_procedure();
  CallNumber call(NodeId to, Message message, Bound bound);
  void call_next(Calls& out, Queue& queue, const Message& message, Bound bound);
  void answer(NodeId to, CallNumber call, Result result);
  void refuse(NodeId to, CallNumber call, Result unreported, std::string why);
  void refuse_owed(const std::string& why);
  [[nodiscard]] bool owes(NodeId to, CallNumber call) const;
  void owe_nothing(NodeId to);
  void learn(std::uint64_t counter);
  Ticket next_ticket();
  void save();
  void settle_timers();

  const Config& config_;
  const Repairs& repairs_;
  State& state_;
  Actions actions_;
  bool rearm_check_ = false;
  bool rearm_coordinator_ = false;
};

}  // namespace muster::invitation
