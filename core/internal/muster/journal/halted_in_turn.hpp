#pragma once

#include <muster/protocol/step.hpp>
#include <muster/values/types.hpp>

#include <deque>
#include <optional>
#include <string>

/// Two coordinators that halt a node in turn, because neither hears the other and the node hears
/// both (docs/decisions/left-behind.md). A candidate that restarts again and again is a different
/// case: each life of that candidate halts the node once.

namespace MUSTER_EXPORT muster {

struct Timings;

/// Follows the steps of one life of a node.
class HaltedInTurn {
 public:
  explicit HaltedInTurn(const Timings& timings);

  /// Takes the next step, at `t`, and the view after that step.
  void take(Duration t, const Event& event, const View& after);

  /// The two coordinators, if they have halted this node in turn more than three times within the
  /// window that ends at `now`. Otherwise empty.
  [[nodiscard]] NodeSet by(Duration now) const;

  /// Ten times the longest time for which a member may be left behind.
  [[nodiscard]] Duration window() const { return window_; }

 private:
  struct Coordinator {
    NodeId node;
    Incarnation incarnation;
    bool operator==(const Coordinator&) const = default;
  };
  /// A Halt by another coordinator than the Halt before it.
  struct OneHalt {
    Duration at{};
    Coordinator before;
    Coordinator by;
    [[nodiscard]] bool is_between(const Coordinator& one, const Coordinator& other) const {
      return (before == one && by == other) || (before == other && by == one);
    }
  };

  Duration window_;
  std::optional<Coordinator> last_;
  std::deque<OneHalt> turns_;  ///< within the window, the oldest first
};

/// A sentence about the two coordinators in `by`.
std::string halted_in_turn_words(NodeId node, const NodeSet& by);

}  // namespace muster
