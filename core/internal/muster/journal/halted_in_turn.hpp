#pragma once

#include <muster/protocol/step.hpp>
#include <muster/values/types.hpp>

#include <deque>
#include <optional>
#include <string>

/// Two coordinators that halt a node in turn: neither hears the other, and the node hears both
/// (docs/decisions/left-behind.md). A node that starts again and again is another case: each life
/// of it halts the node once.

namespace MUSTER_EXPORT muster {

struct Timings;

/// Follows the steps of one life of a node.
class HaltedInTurn {
 public:
  explicit HaltedInTurn(const Timings& timings);

  /// The next step, at `t`, and what it made of the node.
  void take(Duration t, const Event& event, const View& after);

  /// The two nodes, if they have halted this one in turn more than three times within the window
  /// that ends at `now`; else none.
  [[nodiscard]] NodeSet by(Duration now) const;

  /// Ten times the bound on how long a member may be left behind.
  [[nodiscard]] Duration window() const { return window_; }

 private:
  struct Coordinator {
    NodeId node;
    Incarnation incarnation;
    bool operator==(const Coordinator&) const = default;
  };
  /// A Halt of another coordinator than the Halt before.
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

/// The same in a sentence; `by` are two nodes.
std::string halted_in_turn_words(NodeId node, const NodeSet& by);

}  // namespace muster
