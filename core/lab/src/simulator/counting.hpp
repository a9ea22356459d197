#pragma once

#include <muster/lab/world.hpp>

#include <map>
#include <optional>
#include <string>

namespace muster::lab::simulated {

/// What the applications of a run were told is durable, by node.
class Counted {
 public:
  void acknowledge(NodeId node, std::uint64_t number) { acknowledged_[node] = number; }
  void forget(NodeId node) { acknowledged_.erase(node); }
  /// Notes that a life found less in its cells than was acknowledged.
  void found(NodeId node, std::uint64_t number);
  /// In one sentence what was lost, if anything was.
  [[nodiscard]] std::optional<std::string> lost() const { return lost_; }

 private:
  std::map<NodeId, std::uint64_t> acknowledged_;
  std::optional<std::string> lost_;
};

/// An application that counts in a cell of its own, while it holds a permit, once in each
/// `period`; it reports what it has come to.
MakeApplication make_counting(Counted& counted, Duration period);

}  // namespace muster::lab::simulated
