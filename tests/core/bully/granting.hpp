#pragma once

#include "clocked.hpp"

namespace muster::test {

inline const ByQuorum grant{std::nullopt, true, false, {}};

inline ByQuorum tells(std::vector<Rights> rights) {
  return {std::nullopt, true, false, std::move(rights)};
}

struct Lowest : Clocked {
  Lowest() : Clocked(1, 3) {}
};

struct Highest : Clocked {
  Highest() : Clocked(3, 3) {}
};

/// Node 3 of three after its election point. Node 1 does not answer, and node 2 has reported these
/// rights.
inline Clocked told_by_2(std::vector<Rights> rights) {
  Clocked node(3, 3);
  node.long_after();
  node.elected_with({id(2)});
  node.unanswered(1);  // node 1 does not answer the question after the election point, which proves
                       // nothing about it
  node.answered(2, Joined{}, tells(std::move(rights)));
  return node;
}

/// Node 3 of three becomes Normal, with nodes 1 and 2 as members.
inline void coordinates_all(Clocked& node) {
  node.elected_with({id(1), id(2)});
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Joined{}, grant);
  node.end_hook();
  for (std::uint32_t j : {1u, 2u}) node.answered(j, Installed{}, grant);
  node.end_hook();
  BOOST_REQUIRE(node.state.s == Status::Normal);
}

}  // namespace muster::test
