#pragma once

#include <muster/protocol/bully.hpp>

/// What an option sees of the node, and of the event of this step.

namespace muster::bully {

/// The facts of one event. A right that ends before the event counts has a context of its own, of
/// which only `now` says something.
struct Context {
  Moment now{};
  bool proof = false;              ///< it proves a death
  const Letter* letter = nullptr;  ///< that it brings
  const ByQuorum* said = nullptr;  ///< the rider of the answer that it brings; null: none
};

Context context_of(const Event& event, Moment now);

[[nodiscard]] bool works_in_group(const State& node);
[[nodiscard]] bool coordinates(const State& node, NodeId self);

/// An option reads the node and changes nothing but its own memory.
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
  /// True if the rider of the answer has that flag.
  [[nodiscard]] bool is_told(bool ByQuorum::*what) const { return step.said && step.said->*what; }
  [[nodiscard]] NodeSet up() const;
  /// The latest life of j that was met.
  [[nodiscard]] Incarnation seen(NodeId j) const;
  /// That node in S(i).Up; null where it is not.
  [[nodiscard]] const Member* member(NodeId j) const;
};

}  // namespace muster::bully
