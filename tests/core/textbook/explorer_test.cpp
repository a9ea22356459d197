#include "core/protocol/explorer.hpp"

#include <boost/test/unit_test.hpp>

/// Random runs of the textbook protocol. It promises little: every step keeps to the hook grammar,
/// and where nodes only crash they agree in the end.

namespace muster::test::any {

namespace {

void explore_seeds(Wildness wildness, std::uint64_t seeds) {
  wildness.config.protocol = ProtocolName::textbook;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto finding = explore(seed, wildness);
    if (!finding) continue;
    BOOST_FAIL("seed " << seed << ": " << to_text(reduce(*finding, wildness), wildness));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_textbook_elections)

BOOST_AUTO_TEST_CASE(keep_to_the_hook_grammar_whatever_happens) {
  explore_seeds({.nodes = 3, .leaves = 2, .failed_hooks = 3, .must_settle = false}, 150);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test::any
