#include <muster/lab/checker.hpp>

#include <boost/test/unit_test.hpp>

/// The checker's verdicts in small worlds.

namespace muster::lab {

namespace {

CheckReport run(const Bounds& bounds) {
  return check(bounds, [](const Progress&) {});
}

Bounds two_nodes(unsigned failures) {
  Bounds bounds;
  bounds.nodes = 2;
  bounds.failures = failures;
  bounds.queue = 8;
  return bounds;
}

// Row U1 of the findings: a wrong timeout makes two coordinators.
Bounds any_timeouts(std::uint32_t nodes) {
  Bounds bounds = two_nodes(0);
  bounds.nodes = nodes;
  bounds.repairs = Repairs::none();
  bounds.channels = Channels::fifo;
  bounds.wrong_timeouts.reset();
  return bounds;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checker)

BOOST_AUTO_TEST_CASE(two_nodes_that_fail_keep_the_assertions) {
  const CheckReport report = run(two_nodes(1));
  BOOST_TEST(report.exhausted);
  BOOST_TEST(report.cut == 0u);
  BOOST_TEST(!report.counterexample);
  BOOST_TEST(report.progress.states > 1000u);
}

BOOST_AUTO_TEST_CASE(a_wrong_timeout_makes_two_coordinators) {
  for (const std::uint32_t nodes : {2u, 3u}) {
    const CheckReport report = run(any_timeouts(nodes));
    BOOST_REQUIRE(report.counterexample);
    BOOST_TEST(report.counterexample->assertion == "1a");
    BOOST_TEST(report.counterexample->story.size() <= 2 * nodes);
  }
}

BOOST_AUTO_TEST_CASE(the_verdict_is_the_same_without_the_canonical_form) {
  Bounds exact = any_timeouts(2);
  exact.canonical = false;
  const CheckReport with = run(any_timeouts(2));
  const CheckReport without = run(exact);
  BOOST_REQUIRE(with.counterexample);
  BOOST_REQUIRE(without.counterexample);
  BOOST_TEST(with.counterexample->assertion == without.counterexample->assertion);
  BOOST_TEST(with.counterexample->story.size() == without.counterexample->story.size());
}

BOOST_AUTO_TEST_CASE(a_limit_ends_the_search) {
  Bounds bounds = two_nodes(2);
  bounds.limit_states = 1000;
  const CheckReport report = run(bounds);
  BOOST_TEST(!report.exhausted);
  BOOST_TEST(report.progress.states >= 1000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::lab
