#pragma once

#include <muster/protocol/step.hpp>

#include <optional>
#include <string>

/// Why a node began an election, in the paper's words, from the steps in which it did.

namespace MUSTER_EXPORT muster {

/// What made a node begin an election, or cease for that of another node.
enum class Trigger {
  recovered,    ///< a life began
  paused,       ///< it was too slow, by assumption 9 a failure
  failed,       ///< a life of another node is over: proven
  unanswered,   ///< another node did not answer
  found,        ///< Check(i) found a node that is not Normal with it
  refused,      ///< another node refused to go on with it
  hook_failed,  ///< its application failed
  timer,        ///< a timer of the protocol expired: it backed off, gave way, or heard of nobody
  asked,        ///< it was asked for
  halted,       ///< another node halted it
  invited,      ///< another node invited it (section 4)
  told,         ///< another node said that it is coordinator (textbook)
  left_behind,  ///< its coordinator left their group
  other,
};
MUSTER_DESCRIBE_ENUM(Trigger, recovered, paused, failed, unanswered, found, refused, hook_failed,
                     timer, asked, halted, invited, told, left_behind, other)

struct Reason {
  Trigger trigger = Trigger::other;
  std::string evidence;  ///< a clause for people, one line
};
MUSTER_DESCRIBE(Reason, trigger, evidence);

/// Follows the steps of one life of a node.
class Reasons {
 public:
  /// The next step: what an event made of the node. True when the node began an election in it,
  /// began it anew, or stands still since then for others that differ.
  bool take(NodeId self, const Event& event, const View& after);

  /// The reason of the election that the node began last.
  [[nodiscard]] const Reason& last() const { return last_; }

  /// What that step, the last one taken, would be the reason for, whether it began an election or
  /// not.
  [[nodiscard]] static Reason of(NodeId self, const Event& event);

 private:
  Status status_{};  ///< before the next step
  Wait procedure_{};
  std::optional<NodeId> lost_;  ///< whose proven failure made it ask its coordinator
  /// What made it ask whether those that it would halt are free; none where it had begun before.
  std::optional<Reason> asks_for_;
  Reason last_;
};

}  // namespace muster
