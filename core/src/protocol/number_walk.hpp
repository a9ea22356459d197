#pragma once

#include <muster/detail/values/kinds.hpp>
#include <muster/protocol/canonical.hpp>
#include <muster/values/describe.hpp>

#include <concepts>
#include <map>
#include <variant>

namespace muster {

/// Visits all numbers in a value of the node `self`. The walk finds the numbers by their types. A
/// bare number has no owner: for each type that contains one, `Own` says which node owns it, or the
/// program does not compile.
template <class Own>
class NumberWalk {
 public:
  NumberWalk(NodeId self, NumberVisitor& visitor) : self_(self), visit_(visitor) {}

  template <class T>
  void operator()(T& value) {
    static_assert(!AnyStrong<T> || std::same_as<T, NodeId> || std::same_as<T, Digest> ||
                      std::same_as<T, Ticket> || std::same_as<T, Instance>,
                  "a number whose owner is not known");
    if constexpr (AnyOptional<T>) {
      if (value) own()(*value);
    } else if constexpr (AnyVariant<T>) {
      std::visit([this](auto& alternative) { own()(alternative); }, value);
    } else if constexpr (AnyVector<T>) {
      for (auto& element : value) own()(element);
    } else if constexpr (Described<T>) {
      for_each_field(value, [this](const char*, auto& field) { own()(field); });
    }
  }

  void operator()(ElectionId& election) { visit_.election(election); }
  void operator()(GroupNumber& group) { visit_.group(group); }
  void operator()(Member& member) {
    visit_.life(member.node, member.incarnation);
    own()(member.holdings);
  }
  void operator()(Bytes& bytes) { visit_.written(bytes); }
  void operator()(std::map<NodeId, ElectionId>& elections) {
    for (auto& [node, election] : elections) visit_.election(election);
  }
  void operator()(std::map<NodeId, Incarnation>& lives) {
    for (auto& [node, life] : lives) visit_.life(node, life);
  }
  void operator()(std::map<CallNumber, NodeId>& calls) {
    std::map<CallNumber, NodeId> changed;
    for (const auto& [number, node] : calls) {
      CallNumber call = number;
      visit_.call(self_, call);
      changed.emplace(call, node);
    }
    calls = std::move(changed);
  }
  /// The state vector is left out: a new life uses only h of it, and only if the lab has struck the
  /// line that clears h.
  void operator()(SafeState& safe) {
    visit_.life(self_, safe.incarnation);
    visit_.last_counter(self_, safe.counter_limit);
    own()(safe.assigned);
    own()(safe.seen);
  }

  /// Visits a node's whole state.
  template <std::derived_from<Common> State>
  void state(State& state) {
    for_each_field(state, [&]<class Field>(const char*, Field& field) {
      if constexpr (!std::same_as<Field, CallNumber>) own()(field);
    });
    visit_.last_counter(self_, state.counter);
    visit_.last_call(self_, state.calls);
  }

 protected:
  NodeId self_;
  NumberVisitor& visit_;

 private:
  Own& own() { return static_cast<Own&>(*this); }
};

}  // namespace muster
