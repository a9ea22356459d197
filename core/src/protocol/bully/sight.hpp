#pragma once

#include <muster/protocol/bully.hpp>

/// The view of an option: the node, and the event of this step.

namespace muster::bully {

/// The facts of one event. The end of a right is judged before the event. For this question only
/// `now` is set.
struct Context {
  Moment now{};
  bool proof = false;              ///< the event proves a death
  const Letter* letter = nullptr;  ///< the letter that the event brings, or null
  const ByQuorum* said = nullptr;  ///< the rider of the answer that the event brings, or null
};

Context context_of(const Event& event, Moment now);

[[nodiscard]] bool works_in_group(const State& node);
[[nodiscard]] bool coordinates(const State& node, NodeId self);

/// The view that an option has of its node. An option changes only its own memory.
struct Sight {
  const Config& config;
  const State& node;
  const Context& step;

  template <class Wait>
  [[nodiscard]] bool runs() const {
    return std::holds_alternative<Wait>(node.procedure);
  }
  [[nodiscard]] NodeId self() const { return config.self; }
  [[nodiscard]] Moment now() const { return step.now; }
  [[nodiscard]] bool works_in_group() const { return bully::works_in_group(node); }
  [[nodiscard]] bool coordinates() const { return bully::coordinates(node, config.self); }
  /// True if the event is an answer whose rider has that flag set.
  [[nodiscard]] bool is_told(bool ByQuorum::*what) const { return step.said && step.said->*what; }
  [[nodiscard]] NodeSet up() const;
  /// The latest life of j that this node has met.
  [[nodiscard]] Incarnation seen(NodeId j) const;
  /// The node j in S(i).Up, or null if it is not there.
  [[nodiscard]] const Member* member(NodeId j) const;
};

}  // namespace muster::bully
