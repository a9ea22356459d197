#pragma once

#include "local.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

/// The numbers that grow for ever: lives, elections, calls and group counters. The checker keeps
/// their order and drops their size.

namespace muster::lab::explored {

/// A number and the counter that it belongs to, as one integer with the right order: kind, node,
/// life, number.
using Number = std::uint64_t;
using Numbers = std::vector<Number>;                      ///< ascending
using Renaming = std::vector<std::pair<Number, Number>>;  ///< ascending

enum class Count : std::uint8_t {
  life = 1,
  election,
  last_election,  ///< the number from which a node counts
  call,
  last_call,
  counter,  ///< all group counters, if they are kept
  group,    ///< the groups of one coordinator, if counters are dropped
  own,      ///< the number from which a node counts, if counters are dropped
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
/// The counter of a number: everything but the value.
constexpr Number counted_with(Number number) {
  return number & ~Number{0xFFFFFFF};
}

/// Calls `visit` with each number in a value, and with its place, which it may change. In an
/// election the visitor gets the number before the life.
using VisitNumber = std::function<void(Number number, std::uint64_t& value)>;
void visit_numbers(bool counters, Local& local, const VisitNumber& visit);
void visit_numbers(bool counters, Item& item, const VisitNumber& visit);

}  // namespace muster::lab::explored
