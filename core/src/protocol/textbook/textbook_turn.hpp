#pragma once

#include "../turn_of.hpp"

#include <muster/protocol/textbook.hpp>

#include <string>
#include <utility>

namespace muster::textbook {

/// One step of the textbook protocol: takes one event and changes the state of the node. The first
/// member functions are those of the textbook, in the textbook's order. Those for the points that
/// it leaves open follow. An object lives for one step.
class TextbookTurn : private TurnOf<State> {
 public:
  TextbookTurn(const Config& config, State& state) : TurnOf(config, state, true) {}

  Actions take(const Event& event);

 private:
  // Events.
  void on_event(const Recovered& event);
  void on_event(const Received& event);
  void on_event(const Unanswered& event);
  void on_event(const Expired& event);
  void on_event(const Stopped& event);
  void on_event(const Reorganized& event);
  void on_event(const Started& event);
  void on_event(const HookFailed& event);
  void on_event(const Leaving& event);
  void on_event(const ElectionAsked& event);
  void on_event(const Differing& event);
  /// Failed and Paused are ignored: textbooks know neither proofs nor pauses.
  template <class Unknown>
  void on_event(const Unknown&) {}

  // The textbook: Election, Answer, Coordinator.
  void election();
  void called(const Letter& letter, const Election& call);
  void called(const Letter& letter, const Answer& answer);
  void nobody_answered();
  void win();
  void announce();
  void called(const Letter& letter, const Coordinator& call);

  // Points that textbooks leave open: noticing a failure, and the application.
  void timeout();
  void called(const Letter& letter, const AreYouThere& call);
  template <class OfAnotherProtocol>
  void called(const Letter&, const OfAnotherProtocol&) {}
  void reorganize();
  void install();
  void leave(LeaveCause cause);
  void depart();

  // Helpers.
  [[nodiscard]] bool electing() const;
  [[nodiscard]] bool coordinates() const { return state_.c == config_.self; }
  void end_procedure();
  void save();
  void set_coordinator_timer();

  bool rearm_ = false;
};

}  // namespace muster::textbook
