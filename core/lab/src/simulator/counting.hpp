#pragma once

#include <muster/lab/world.hpp>

#include <map>
#include <optional>
#include <string>

namespace muster::lab::simulated {

/// The counts that the applications of a run were told are durable, by node.
class Counted {
 public:
  void acknowledge(NodeId node, std::uint64_t number) { acknowledged_[node] = number; }
  void forget(NodeId node) { acknowledged_.erase(node); }
  /// Notes a loss if a life finds a smaller count in its cells than was acknowledged.
  void found(NodeId node, std::uint64_t number);
  /// One sentence about a count that was lost, or none.
  [[nodiscard]] std::optional<std::string> lost() const { return lost_; }

 private:
  std::map<NodeId, std::uint64_t> acknowledged_;
  std::optional<std::string> lost_;
};

/// An application that counts in a cell, once in each `period`, while it holds a permit. It reports
/// its count.
MakeApplication make_counting(Counted& counted, Duration period);

}  // namespace muster::lab::simulated
