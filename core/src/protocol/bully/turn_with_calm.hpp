#pragma once

#include "turn.hpp"

#include <map>

namespace muster::bully {

/// One step with calm (docs/options/calm.md): whoever makes its group reorganize again and again,
/// though it lives, is let in later and later. To its coordinator a node that is held is as one
/// that does not answer; no step is taken that the paper's text could not take of itself.
class TurnWithCalm : public Turn {
 public:
  TurnWithCalm(const Config& config, State& state, Moment now)
      : Turn(config, state), now_(now), calm_(state.by_options.calm) {}

  Actions take(const Event& event) override;

 protected:
  using Turn::happened;

  void happened(const Unanswered& event) override;
  void happened(const Failed& event) override;
  void happened(const Paused& event) override;
  void halt_lower() override;
  void returned(NodeId by, CallNumber call, const Result* result) override;
  void new_life_of(NodeId node) override;
  void election_point() override;
  void halt_returned(NodeId by, const Result* result) override;
  void new_coordinator_returned(NodeId by, const Result* result) override;
  void ready_returned(NodeId by, const Result* result) override;
  void question_returned(NodeId by, const Result* result) override;
  void normal_returned(NodeId by, const Result* result) override;
  virtual void leave_out(NodeId j);
  void start_over_without(NodeId j, const Result* result);
  void blame_itself(const NodeSet& lost);

  const Moment now_;
  bool proof_ = false;  ///< the event proves a death

 private:
  [[nodiscard]] bool is_on() const { return config_.options.calm > Duration::zero(); }
  void forget_what_was_long_ago();
  [[nodiscard]] bool is_held(NodeId j) const;
  [[nodiscard]] bool is_left_out(NodeId j) const;
  [[nodiscard]] std::size_t least_at_work() const;
  [[nodiscard]] bool enough_are_left_without(NodeId j) const;
  void loses(NodeId j, const Result* result);
  [[nodiscard]] bool elects() const;
  [[nodiscard]] std::map<CallNumber, NodeId> calls_to_members() const;
  void judge_loss();
  void blame(NodeId j);
  void has_died(NodeId j);
  void keep_out(NodeId j);

  Calm& calm_;
};

}  // namespace muster::bully
