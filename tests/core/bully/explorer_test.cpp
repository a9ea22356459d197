#include "explorer.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>

/// Random runs. MUSTER_SEEDS=FROM..TO explores those seeds instead of the few that every build
/// takes.

namespace muster::test {

namespace {

void explore_seeds(const Wildness& wildness, std::uint64_t seeds) {
  std::uint64_t first = 1;
  std::uint64_t last = seeds;
  if (const char* range = std::getenv("MUSTER_SEEDS")) {
    const std::string text = range;
    first = std::stoull(text);
    last = std::stoull(text.substr(text.find("..") + 2));
  }
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const auto finding = explore(seed, wildness);
    if (!finding) continue;
    BOOST_FAIL("seed " << seed << ": " << to_text(reduce(*finding, wildness), wildness));
  }
}

Repairs without(bool Repairs::*repair) {
  Repairs repairs;
  repairs.*repair = false;
  if (repair == &Repairs::report_refusals) repairs.stop_beside_halts = false;
  return repairs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_runs)

BOOST_AUTO_TEST_CASE(with_failures_of_two_nodes) {
  explore_seeds({.nodes = 2, .failures = 6}, 100);
}

BOOST_AUTO_TEST_CASE(with_failures_of_three_nodes) {
  explore_seeds({.nodes = 3}, 80);
}

BOOST_AUTO_TEST_CASE(with_failures_of_four_nodes) {
  explore_seeds({.nodes = 4, .steps = 250, .failures = 6, .expiries = 30}, 30);
}

BOOST_AUTO_TEST_CASE(with_failing_hooks) {
  explore_seeds({.nodes = 3, .failures = 2, .failed_hooks = 3}, 50);
}

BOOST_AUTO_TEST_CASE(with_nodes_that_leave) {
  explore_seeds({.nodes = 3, .failures = 2, .leaves = 3}, 50);
}

BOOST_AUTO_TEST_CASE(with_pauses) {
  explore_seeds({.nodes = 3, .failures = 2, .pauses = 3}, 50);
}

BOOST_AUTO_TEST_CASE(with_everything) {
  explore_seeds(
      {.nodes = 4, .steps = 250, .failures = 4, .pauses = 2, .leaves = 2, .failed_hooks = 2}, 25);
}

BOOST_AUTO_TEST_CASE(literal) {
  explore_seeds({.nodes = 3, .repairs = Repairs::none(), .failures = 5, .must_settle = false}, 60);
}

BOOST_AUTO_TEST_CASE(with_any_one_repair_off) {
  for (auto repair :
       {&Repairs::normal_for_me, &Repairs::lost_members, &Repairs::report_refusals, &Repairs::tags,
        &Repairs::parallel_calls, &Repairs::proofs, &Repairs::stop_beside_halts,
        &Repairs::save_promises_only, &Repairs::back_off})
    explore_seeds({.nodes = 3, .repairs = without(repair), .failures = 5, .failed_hooks = 1}, 6);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
