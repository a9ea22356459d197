#pragma once

#include "turn_with_calm.hpp"

namespace muster::bully {

/// One step where an option leaves the paper (docs/options.md), but for quorum
/// (turn_with_grants.hpp).
class TurnWithOptions final : public TurnWithCalm {
 public:
  using TurnWithCalm::TurnWithCalm;

 private:
  using Turn::called;
  using Turn::happened;

  // A settling start: the first life waits for the others.
  void begin() override;
  void settled();
  void heard(NodeId node);

  // Preempt never, or after a while: a higher node joins a lower coordinator.
  [[nodiscard]] bool joins() const { return config_.options.preempt != Preempt::paper; }
  void found(NodeId coordinator);
  void new_life_of(NodeId node) override;
  void election(NodeSet asked_in_vain) override;
  void stop(StopCause cause) override;
  void fail() override;
  void called(const Letter& letter, const AreYouThere& call) override;
  void called(const Letter& letter, const AreYouNormal& call) override;
  void called(const Letter& letter, const NewCoordinator& call) override;
  [[nodiscard]] bool stands_back_for(NodeId candidate) const;
  [[nodiscard]] bool is_wrongly_taken_for_coordinator_by(NodeId node) const;
  void question_returned(NodeId by, const Result* result) override;
  void probe_returned(NodeId by, const Result* result) override;
  void set_preempt_timer();

  // Its Halts.
  void halt_next(NodeId last) override;
  [[nodiscard]] bool halts(NodeId j) const override;
  [[nodiscard]] bool is_about_to_halt(NodeId j) const override {
    return !joins() && TurnWithCalm::is_about_to_halt(j);
  }
  [[nodiscard]] bool halts_once() const override;
  [[nodiscard]] bool rounds_by_node() const override;

  // Resume all: the first Ready tells a task, and the second one starts it.
  [[nodiscard]] bool only_installs() const;
  void ready(NodeId coordinator, CallNumber call) override;
  void own_ready() override;
  void all_ready() override;

  // Of all.
  void happened(const Received& event) override;
  void happened(const Expired& event) override;
  void returned(NodeId by, CallNumber call, const Result* result) override;
  void end_procedure() override;
  void forget_group() override;
  void set_timers() override;
};

}  // namespace muster::bully
