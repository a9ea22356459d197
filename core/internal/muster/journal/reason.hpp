#pragma once

#include <muster/protocol/step.hpp>

#include <optional>
#include <string>

/// Why a node began an election, in the paper's words. The reason is derived from the steps that
/// led to the election.

namespace MUSTER_EXPORT muster {

/// The event that made a node begin an election, or that made it stop its work for another node's
/// election.
enum class Trigger {
  recovered,    ///< a life began
  paused,       ///< the node was too slow; by assumption 9 it has failed
  failed,       ///< a life of another node is proven to be over
  unanswered,   ///< another node did not answer
  found,        ///< Check(i) found a node that is not Normal in this node's group
  refused,      ///< another node refused to continue the procedure of this node
  hook_failed,  ///< the application of the node failed
  timer,        ///< a timer of the protocol expired: the node backed off, gave way, or heard no
                ///< coordinator
  asked,        ///< the owner or the application asked for an election
  halted,       ///< another node halted this node
  invited,      ///< another node invited this node (Section IV)
  told,         ///< another node said that it is coordinator (textbook protocol)
  left_behind,  ///< the coordinator of this node left their group
  other,
};
MUSTER_DESCRIBE_ENUM(Trigger, recovered, paused, failed, unanswered, found, refused, hook_failed,
                     timer, asked, halted, invited, told, left_behind, other)

struct Reason {
  Trigger trigger = Trigger::other;
  std::string evidence;  ///< a clause in words, on one line
};
MUSTER_DESCRIBE(Reason, trigger, evidence);

/// Follows the steps of one life of a node.
class Reasons {
 public:
  /// Takes the next step and the view after that step. Returns true if in this step the node began
  /// an election, started one over, or was outvoted by nodes that differ.
  bool take(NodeId self, const Event& event, const View& after);

  /// The reason of the last election that this node began.
  [[nodiscard]] const Reason& last() const { return last_; }

  /// The event of the last step as a reason, whether or not an election began in that step.
  [[nodiscard]] static Reason of(NodeId self, const Event& event);

 private:
  Status status_{};  ///< before the next step
  Wait procedure_{};
  std::optional<NodeId>
      lost_;  ///< the node whose proven failure made this node ask its coordinator
  /// Why this node began to ask whether the nodes that it would halt are free. None if the election
  /// had begun before this node asked.
  std::optional<Reason> asks_for_;
  Reason last_;
};

}  // namespace muster
