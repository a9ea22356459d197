#pragma once

#include "local.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The numbers that grow for ever, found in values by their types: lives, elections, calls, group
/// counters. The checker keeps their order and forgets how large they are.

namespace muster::lab::explored {

/// One number with what it is counted with, as one integer that orders like it: kind, node, life,
/// number.
using Number = std::uint64_t;
using Numbers = std::vector<Number>;                      ///< ascending
using Renaming = std::vector<std::pair<Number, Number>>;  ///< ascending

enum class Count : std::uint8_t {
  life = 1,
  election,
  last_election,  ///< from which a node counts
  call,
  last_call,
  counter,  ///< all group counters, where they are kept
  group,    ///< the groups of one coordinator, where counters are dropped
  own,      ///< from which a node counts, where counters are dropped
};

constexpr Number number_of(Count count, NodeId node, std::uint64_t life, std::uint64_t value) {
  return static_cast<Number>(count) << 60 | Number{node.value} << 52 | life << 28 | value;
}
constexpr Count count_of(Number number) {
  return static_cast<Count>(number >> 60);
}
constexpr std::uint64_t value_of(Number number) {
  return number & 0xFFFFFFF;
}
constexpr std::uint64_t life_of(Number number) {
  return number >> 28 & 0xFFFFFF;
}
/// What is counted together: all but the value.
constexpr Number counted_with(Number number) {
  return number & ~Number{0xFFFFFFF};
}

/// The node to which the bare numbers in a value belong; items name theirs.
inline NodeId owner(const Local& local) {
  return local.node;
}
inline NodeId owner(const Item&) {
  return {};
}

/// Visits each number in a value of the node `self`, and may change it. A bare number of these
/// types has no owner: whoever contains it is named here, or the program does not compile.
template <class Visitor>
class Walk {
 public:
  Walk(NodeId self, Visitor& visitor) : self_(self), visit_(visitor) {}

  template <class T>
  void operator()(T& value) {
    static_assert(!AnyStrong<T> || std::same_as<T, NodeId> || std::same_as<T, Digest> ||
                      std::same_as<T, Ticket>,
                  "a number whose owner is not known");
    if constexpr (AnyOptional<T>) {
      if (value) (*this)(*value);
    } else if constexpr (AnyVariant<T>) {
      std::visit([this](auto& alternative) { (*this)(alternative); }, value);
    } else if constexpr (AnyVector<T>) {
      for (auto& element : value) (*this)(element);
    } else if constexpr (Described<T>) {
      for_each_field(value, [this](const char*, auto& field) { (*this)(field); });
    }
  }

  void operator()(ElectionId& id) {
    if (id.incarnation.value > 0) visit_.election(id.candidate, id.incarnation, id.number);
  }
  void operator()(GroupNumber& group) { visit_.group(group.coordinator, group.counter); }
  void operator()(Halted& answer) { visit_.reported(answer.counter); }
  void operator()(bully::Life& life) { visit_.life(life.node, life.incarnation); }
  void operator()(Member& member) {
    visit_.life(member.node, member.incarnation);
    (*this)(member.holdings);
  }
  void operator()(bully::Owed& owed) { visit_.call(owed.to, owed.call); }
  void operator()(invitation::Owed& owed) { visit_.call(owed.to, owed.call); }
  void operator()(bully::HaltingLower& wait) { visit_.call(self_, wait.call); }
  void operator()(bully::Probing& wait) { visit_.call(self_, wait.call); }
  void operator()(invitation::Accepting& wait) { visit_.call(self_, wait.call); }
  void operator()(invitation::Probing& wait) {
    visit_.call(self_, wait.call);
    (*this)(wait.group);
  }
  void operator()(textbook::Probing& wait) { visit_.call(self_, wait.call); }
  void operator()(Bytes& bytes) {
    if (auto task = read_task(bytes)) {
      (*this)(task->group);
      visit_.life(task->group.coordinator, task->life);
      bytes = write_task(*task);
    }
  }

  void operator()(std::map<NodeId, ElectionId>& map) {
    for (auto& [node, election] : map) (*this)(election);
  }
  void operator()(std::map<NodeId, Incarnation>& map) {
    for (auto& [node, life] : map) visit_.life(node, life);
  }
  template <class T>
  void operator()(std::map<CallNumber, T>& calls) {
    std::map<CallNumber, T> changed;
    for (auto& [call, value] : calls) {
      CallNumber number = call;
      visit_.call(self_, number);
      if constexpr (std::same_as<T, OutCall>) (*this)(value);
      changed.emplace(number, std::move(value));
    }
    calls = std::move(changed);
  }

  void operator()(Letter& letter) {
    visit_.life(letter.from, letter.incarnation);
    visit_.call(is_answer(letter) ? letter.to : letter.from, letter.call);
    if (auto* call = std::get_if<NewCoordinator>(&letter.message))
      visit_named(letter, *call);
    else if (auto* ready = std::get_if<Ready>(&letter.message))
      visit_named(letter, *ready);
    else if (auto* installs = std::get_if<invitation::Ready>(&letter.message))
      visit_named(letter, *installs);
    else
      (*this)(letter.message);
  }
  void operator()(NewCoordinator&) {}
  void operator()(Ready&) {}
  void operator()(invitation::Ready&) {}
  void operator()(invitation::Coordinating& answer) {
    (*this)(answer.group);
    visit_.reported(answer.counter);
  }
  void operator()(invitation::Invited& answer) { visit_.reported(answer.counter); }
  void operator()(OutCall& call) {
    (*this)(call.letter);
    if (call.sent_to) visit_.life(call.letter.to, *call.sent_to);
  }
  void operator()(NewLife& item) { visit_.life(item.peer, item.life); }
  void operator()(Begins& item) { visit_.life(item.peer, item.life); }
  void operator()(NoAnswer& item) { visit_.call(item.at, item.call); }

  void operator()(SafeState& safe) {
    visit_.life(self_, safe.incarnation);
    visit_.own(self_, safe.counter_limit);
    (*this)(safe.assigned);
    (*this)(safe.seen);
  }
  void operator()(bully::State& state) {
    visit_state(state);
    visit_.last_election(self_, state_life_, state.elections);
  }
  void operator()(invitation::State& state) { visit_state(state); }
  void operator()(textbook::State& state) { visit_state(state); }
  void operator()(Local& local) {
    state_life_ = common(local.state).safe.incarnation;  // as it was before it was changed
    for_each_field(local, [&]<class Field>(const char*, Field& field) {
      if constexpr (!std::same_as<Field, std::vector<std::optional<Incarnation>>>) (*this)(field);
    });
    for (std::size_t i = 0; i < local.with.size(); ++i)
      if (local.with[i]) visit_.life(NodeId{static_cast<std::uint32_t>(i + 1)}, *local.with[i]);
  }

 private:
  template <class State>
  void visit_state(State& state) {
    for_each_field(state, [&]<class Field>(const char*, Field& field) {
      if constexpr (!std::same_as<Field, CallNumber>) (*this)(field);
    });
    visit_.own(self_, state.counter);
    visit_.last_call(self_, state.calls);
  }
  void visit_named(Letter& letter, invitation::Ready& call) {
    if (call.receiver) visit_.life(letter.to, *call.receiver);
    (*this)(call.group);
    (*this)(call.definition);
  }
  template <class Named>
  void visit_named(Letter& letter, Named& call) {
    (*this)(call.election);
    visit_.life(letter.to, call.receiver);
    (*this)(call.group);
    if constexpr (std::same_as<Named, Ready>) (*this)(call.definition);
  }

  NodeId self_;
  Visitor& visit_;
  Incarnation state_life_;
};

}  // namespace muster::lab::explored
