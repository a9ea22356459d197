#include <muster/lab/checker.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

/// The options of docs/explanation/options.md in every interleaving of small worlds. All that is
/// claimed with an option holds. The assertions that a quorum gives up do not hold.

namespace muster::lab {

namespace {

CheckReport run(const Bounds& bounds) {
  return check(bounds, [](const Progress&) {});
}

/// No world violates an assertion, and the promised state can be reached from each.
CheckReport holds(Bounds bounds) {
  bounds.liveness = true;
  CheckReport report = run(bounds);
  if (const auto& found = report.counterexample)
    BOOST_ERROR(found->assertion + ": " + found->disagreement.why);
  BOOST_REQUIRE(report.wedged.has_value());
  BOOST_TEST(report.wedged->worlds == 0u);
  BOOST_TEST((report.avoids && !report.avoids->story));
  return report;
}

/// Two nodes that fail once. No link is cut.
void holds_with(const Options& options) {
  Bounds bounds;
  bounds.nodes = 2;
  bounds.failures = 1;
  bounds.queue = 8;
  bounds.options = options;
  const CheckReport report = holds(bounds);
  BOOST_TEST(report.exhausted());
  BOOST_TEST(report.progress.states > 1000u);
}

const Options with_quorum{.quorum = Quorum::majority};

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

// Clocks multiply the worlds, so these bounds allow few steps.
BOOST_AUTO_TEST_CASE(a_quorum_keeps_the_assertions_and_leads_to_a_group_of_a_majority) {
  Bounds bounds;
  bounds.nodes = 2;
  bounds.failures = 0;
  bounds.options = with_quorum;
  bounds.start = {NodeId{1}, NodeId{2}};
  BOOST_TEST(holds(bounds).progress.states > 100'000u);
}

BOOST_AUTO_TEST_CASE(a_higher_node_that_joins_keeps_the_assertions) {
  holds_with({.preempt = Preempt::never});
}

BOOST_AUTO_TEST_CASE(a_higher_node_that_takes_over_later_keeps_the_assertions) {
  holds_with({.preempt = Preempt::after, .preempt_after = std::chrono::minutes(5)});
}

BOOST_AUTO_TEST_CASE(to_resume_together_keeps_the_assertions) {
  holds_with({.resume = Resume::all});
}

BOOST_AUTO_TEST_CASE(to_settle_keeps_the_assertions) {
  holds_with({.settle = std::chrono::seconds(5)});
}

BOOST_AUTO_TEST_CASE(with_a_quorum_wrong_timeouts_make_no_group_of_a_minority) {
  Bounds bounds;
  bounds.failures = 0;
  bounds.wrong_timeouts = 1;
  for (std::uint32_t id = 1; id <= bounds.nodes; ++id) bounds.start.insert(NodeId{id});
  bounds.options = with_quorum;
  bounds.limit_states = 20'000;
  bounds.assertions = {"quorum", "works-apart", "3a", "3b"};
  BOOST_TEST(!run(bounds).counterexample);
}

// Two ticks. In docs/findings.md there are rows with more ticks, and rows with wrong timeouts.
BOOST_AUTO_TEST_CASE(three_nodes_with_a_quorum_are_searched_to_the_end_of_their_time) {
  Bounds bounds;
  bounds.failures = 0;
  bounds.ticks = 2;
  bounds.start = {NodeId{1}, NodeId{2}, NodeId{3}};
  bounds.options = with_quorum;
  const CheckReport report = run(bounds);
  BOOST_TEST(report.ended);
  BOOST_TEST(report.progress.states > 500'000u);
  BOOST_TEST(!report.counterexample);
}

// The search is deep enough to find both errors that docs/findings.md knows: either a node counts
// as ceased although it still works, or the others do not wait for it.
BOOST_AUTO_TEST_CASE(no_two_of_three_nodes_work_apart_where_hooks_are_slow) {
  Bounds bounds;
  bounds.failures = 0;
  bounds.wrong_timeouts = 1;
  bounds.ticks = 2;
  bounds.hooks = Hooks::slow;
  bounds.start = {NodeId{1}, NodeId{2}, NodeId{3}};
  bounds.options = with_quorum;
  bounds.limit_states = 2'500'000;
  const CheckReport report = run(bounds);
  BOOST_TEST(!report.counterexample);
  BOOST_TEST(report.progress.depth >= 23u);  // the deeper of the two
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::lab
