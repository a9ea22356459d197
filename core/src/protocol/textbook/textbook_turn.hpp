#pragma once

#include "../turn_of.hpp"

#include <muster/protocol/textbook.hpp>

#include <string>
#include <utility>

namespace muster::textbook {

/// One step: what one event makes of a node. The member functions are the textbook's in the order
/// in which it tells them, then what it leaves open, then the words in which both are written.
class TextbookTurn : private TurnOf<State> {
 public:
  TextbookTurn(const Config& config, State& state) : TurnOf(config, state, true) {}

  Actions take(const Event& event);

 private:
  // Events.
  void happened(const Recovered& event);
  void happened(const Received& event);
  void happened(const Unanswered& event);
  void happened(const Expired& event);
  void happened(const Stopped& event);
  void happened(const Reorganized& event);
  void happened(const Started& event);
  void happened(const HookFailed& event);
  void happened(const Leaving& event);
  void happened(const ElectionAsked& event);
  void happened(const Differing& event);
  /// Failed and Paused: textbooks know neither proofs nor pauses.
  template <class Unknown>
  void happened(const Unknown&) {}

  // The textbook: Election, Answer, Coordinator.
  void election();
  void called(const Letter& letter, const Election& call);
  void called(const Letter& letter, const Answer& answer);
  void nobody_answered();
  void win();
  void announce();
  void called(const Letter& letter, const Coordinator& call);

  // What it leaves open: a failure is noticed, and the application follows.
  void timeout();
  void called(const Letter& letter, const AreYouThere& call);
  template <class OfAnotherProtocol>
  void called(const Letter&, const OfAnotherProtocol&) {}
  void reorganize();
  void install();
  void leave(LeaveCause cause);
  void depart();

  // Words.
  [[nodiscard]] bool electing() const;
  [[nodiscard]] bool coordinates() const { return state_.c == config_.self; }
  void end_procedure();
  void save();
  void set_coordinator_timer();

  bool rearm_ = false;
};

}  // namespace muster::textbook
