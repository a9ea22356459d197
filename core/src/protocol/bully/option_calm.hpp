#pragma once

#include "answers.hpp"
#include "sight.hpp"

#include <map>

namespace muster::bully {

/// calm (docs/options/calm.md): a node that makes its group reorganize again and again, though it
/// lives, is let in later and later. Its coordinator treats a held node as one that does not
/// answer. No step is taken that the paper's text could not take of itself.
class CalmOption {
 public:
  CalmOption(Sight sight, Calm& calm) : sight_(sight), calm_(calm) {}

  [[nodiscard]] Group judge_group();
  [[nodiscard]] Joining judge_joining(NodeId j) const;
  Losing judge_loss(NodeId j, Lost how);
  [[nodiscard]] std::optional<Finding> judge_normality(NodeId j, const Result* answer) const;
  [[nodiscard]] Pausing judge_pause();
  /// All members have lost this coordinator: true when it leaves for a while.
  [[nodiscard]] bool is_lost_by_all() { return blame_itself(sight_.up()); }

  NodeSet take_held_out();
  [[nodiscard]] std::optional<unsigned> level_given_back() const;

  void step_begins();
  void step_ends();
  void has_died(NodeId j);
  void new_life_of(NodeId j);
  void halting_begins() { calm_.ceased = {}; }
  void has_halted(NodeId j, const Halted* answer);
  void call_returned(NodeId by, CallNumber call, const Result* result);

 private:
  [[nodiscard]] bool has_quorum() const { return sight_.config.options.quorum == Quorum::majority; }
  [[nodiscard]] bool is_held(NodeId j) const;
  [[nodiscard]] bool is_left_out(NodeId j, const NodeSet& up) const;
  [[nodiscard]] std::size_t least_at_work() const;
  [[nodiscard]] bool enough_are_left_without(NodeId j, const NodeSet& up) const;
  [[nodiscard]] bool elects() const;
  [[nodiscard]] std::map<CallNumber, NodeId> calls_to_members() const;
  [[nodiscard]] bool differs_by_itself(const Loss& loss) const;
  void blame(NodeId j);
  [[nodiscard]] bool blame_itself(const NodeSet& lost);

  Sight sight_;
  Calm& calm_;
};

}  // namespace muster::bully
