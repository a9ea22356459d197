#include "core/lab/src/checker/fairness.hpp"

#include <boost/test/unit_test.hpp>

// Cycles in small graphs that the test draws.

namespace muster::lab::explored {
namespace {

struct Arrow {
  std::uint32_t from;
  Kind kind;
  std::uint32_t to;
};

/// The arrows of the graph, ordered by the world from which each starts.
struct Drawn {
  Drawn(std::size_t worlds, const std::vector<Arrow>& arrows) : settled(worlds), unknown(worlds) {
    for (std::uint32_t world = 0; world < worlds; ++world) {
      for (const Arrow& arrow : arrows) {
        if (arrow.from != world) continue;
        successors.push_back(arrow.to);
        kinds.push_back(arrow.kind);
      }
      ends.push_back(successors.size());
    }
  }
  [[nodiscard]] Transitions graph() const { return {successors, kinds, ends}; }
  [[nodiscard]] std::vector<std::uint32_t> cycle() const {
    return fair_cycle(graph(), settled, unknown);
  }

  std::vector<std::uint32_t> successors;
  std::vector<Kind> kinds;
  std::vector<std::uint64_t> ends;
  std::vector<bool> settled, unknown;
};

using Worlds = std::vector<std::uint32_t>;

// The graph 0 -> 1 <-> 2, with an arrow of kind 9 from 1 to 3 and another one from 2 to 3.
const std::vector<Arrow> always_a_way_out = {{0, 1, 1}, {1, 1, 2}, {1, 9, 3}, {2, 2, 1}, {2, 9, 3}};
// The graph 0 -> 1 <-> 2, with an arrow of kind 9 only from 2 to 3.
const std::vector<Arrow> sometimes_a_way_out = {{0, 1, 1}, {1, 1, 2}, {2, 2, 1}, {2, 9, 3}};

}  // namespace

BOOST_AUTO_TEST_SUITE(fairness)

BOOST_AUTO_TEST_CASE(what_could_happen_all_the_time_happens) {
  BOOST_TEST(Drawn(4, always_a_way_out).cycle().empty());
}

BOOST_AUTO_TEST_CASE(a_way_out_that_is_not_there_all_the_time_may_be_missed) {
  const Drawn drawn(4, sometimes_a_way_out);
  BOOST_TEST(drawn.cycle() == (Worlds{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(way_round(drawn.graph(), drawn.cycle()) == (Worlds{2, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_way_round_through_a_world_of_assertion_2_avoids_nothing) {
  Drawn drawn(4, sometimes_a_way_out);
  drawn.settled[2] = true;
  BOOST_TEST(drawn.cycle().empty());
}

BOOST_AUTO_TEST_CASE(of_a_world_with_unknown_successors_nothing_is_said) {
  Drawn drawn(4, sometimes_a_way_out);
  drawn.unknown[1] = true;
  BOOST_TEST(drawn.cycle().empty());
}

BOOST_AUTO_TEST_CASE(a_step_that_changes_nothing_is_a_way_round) {
  BOOST_TEST(Drawn(1, {{0, 1, 0}}).cycle() == (Worlds{0}), boost::test_tools::per_element());
  BOOST_TEST(Drawn(2, {{0, 1, 0}, {0, 2, 1}}).cycle().empty());
}

BOOST_AUTO_TEST_CASE(the_way_round_that_is_reached_first_is_told) {
  const std::vector<Arrow> two = {{0, 1, 1}, {0, 2, 3}, {1, 1, 2}, {2, 1, 1}, {3, 1, 4}, {4, 1, 3}};
  BOOST_TEST(Drawn(5, two).cycle() == (Worlds{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::lab::explored
