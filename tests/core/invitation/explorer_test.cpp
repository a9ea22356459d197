#include "core/protocol/explorer.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>

/// Random runs of the Invitation algorithm. MUSTER_SEEDS=FROM..TO explores those seeds instead of
/// the few that every build takes.

namespace muster::test::any {

BOOST_AUTO_TEST_SUITE(random_invitations)

namespace {

void explore_seeds(Wildness wildness, std::uint64_t seeds) {
  wildness.config.protocol = ProtocolName::invitation;
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

Config with(invitation::Repairs repairs) {
  Config config;
  config.invitation_repairs = repairs;
  return config;
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_two_nodes) {
  explore_seeds({.nodes = 2, .failures = 6}, 150);
}

BOOST_AUTO_TEST_CASE(of_three_nodes) {
  explore_seeds({.nodes = 3}, 150);
}

BOOST_AUTO_TEST_CASE(of_five_nodes) {
  explore_seeds({.nodes = 5, .steps = 500, .failures = 6, .cuts = 8, .expiries = 80}, 40);
}

BOOST_AUTO_TEST_CASE(with_failing_hooks) {
  explore_seeds({.nodes = 3, .failures = 2, .failed_hooks = 4}, 100);
}

BOOST_AUTO_TEST_CASE(with_nodes_that_leave) {
  explore_seeds({.nodes = 3, .failures = 2, .leaves = 3}, 100);
}

BOOST_AUTO_TEST_CASE(literal) {
  explore_seeds({.nodes = 3, .config = with(invitation::Repairs::none()), .must_settle = false},
                100);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test::any
