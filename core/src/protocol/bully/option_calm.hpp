#pragma once

#include "answers.hpp"
#include "sight.hpp"

#include <map>

namespace muster::bully {

/// calm: a node that makes its group reorganize again and again, although it is alive, is admitted
/// later and later (bully/calm.md).
///
/// In the paper a node that does not answer is dead, and a node that is found outside the group is
/// admitted by a new election. So one node that is slow, or badly linked, costs all others their
/// work again and again. With calm its coordinator counts these losses. From the second one within
/// an hour on, the node is *suspended* for a time that doubles with each loss.
///
/// The coordinator treats a suspended node as one that does not answer. Check(i) begins no election
/// because of this node, and an election halts the node and leaves it out of the group. Every step
/// is one that the paper's text could take too, with slower Checks, lost answers, or a node that is
/// down. So every claim still holds. At least half of all nodes, or with a quorum a majority, are
/// always left at work.
class CalmOption {
 public:
  CalmOption(Sight sight, Calm& calm) : sight_(sight), calm_(calm) {}

  [[nodiscard]] Group judge_group();
  [[nodiscard]] Joining judge_joining(NodeId j) const;
  Losing judge_loss(NodeId j, Lost how);
  [[nodiscard]] std::optional<Finding> judge_normality(NodeId j, const Result* answer) const;
  [[nodiscard]] Pausing judge_pause();
  /// Counts that all its members have lost this coordinator. Returns true if this coordinator
  /// leaves for a while.
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
