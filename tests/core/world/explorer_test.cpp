#include "explorer.hpp"

#include <muster/detail/values/kinds.hpp>

#include <boost/test/unit_test.hpp>

/// Random runs of each protocol.

namespace muster::test {

namespace {

Config textbook() {
  Config config;
  config.protocol = ProtocolName::textbook;
  return config;
}

/// Of the Invitation, which bears cuts, and calls that go unanswered at any time.
Wildness of_groups(Wildness wildness, Config config = of_invitation()) {
  wildness.config = std::move(config);
  wildness.silences = 6;
  wildness.cuts = std::max(wildness.cuts, 3U);
  wildness.pauses = 2;
  wildness.expiries = std::max(wildness.expiries, 40U);
  return wildness;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_runs)

BOOST_AUTO_TEST_CASE(with_failures_of_two_nodes) {
  explore_seeds({.nodes = 2, .failures = 6}, 100);
}

BOOST_AUTO_TEST_CASE(with_failures_of_three_nodes) {
  explore_seeds({}, 80);
}

BOOST_AUTO_TEST_CASE(with_failures_of_four_nodes) {
  explore_seeds({.nodes = 4, .steps = 250, .failures = 6, .expiries = 30}, 30);
}

BOOST_AUTO_TEST_CASE(with_failing_hooks) {
  explore_seeds({.failures = 2, .failed_hooks = 3}, 50);
}

BOOST_AUTO_TEST_CASE(with_nodes_that_leave) {
  explore_seeds({.failures = 2, .leaves = 3}, 50);
}

BOOST_AUTO_TEST_CASE(with_pauses) {
  explore_seeds({.failures = 2, .pauses = 3}, 50);
}

BOOST_AUTO_TEST_CASE(with_everything) {
  explore_seeds(
      {.nodes = 4, .steps = 250, .failures = 4, .pauses = 2, .leaves = 2, .failed_hooks = 2}, 25);
}

BOOST_AUTO_TEST_CASE(with_nodes_that_differ) {
  explore_seeds({.failures = 6, .differences = 4}, 120);
  explore_seeds({.nodes = 5, .steps = 400, .failures = 8, .differences = 6, .expiries = 40}, 30);
}

BOOST_AUTO_TEST_CASE(literal) {
  explore_seeds({.config = of_bully(Repairs::none()), .failures = 5, .must_settle = false}, 60);
}

BOOST_AUTO_TEST_CASE(with_any_one_repair_off) {
  for (auto repair :
       {&Repairs::normal_for_me, &Repairs::lost_members, &Repairs::report_refusals, &Repairs::tags,
        &Repairs::parallel_calls, &Repairs::proofs, &Repairs::stop_beside_halts,
        &Repairs::save_promises_only, &Repairs::back_off})
    explore_seeds({.config = of_bully(without(repair)), .failures = 5, .failed_hooks = 1}, 6);
}

// An explorer that could find nothing would be worth nothing.
BOOST_AUTO_TEST_CASE(find_what_a_line_is_for) {
  for (const Line line : {Line::stop_ends_election, Line::unconditional_halt,
                          Line::stop_refuses_waiting_calls, Line::reorganize_after_stops}) {
    Wildness wildness{.failures = 5, .pauses = 1, .failed_hooks = 1};
    wildness.config.struck = {line};
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 250 && !found; ++seed)
      found = explore(seed, wildness).has_value();
    BOOST_TEST(found, "nothing was found without " << enumerator_name(line));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(random_invitations)

BOOST_AUTO_TEST_CASE(of_two_nodes) {
  explore_seeds(of_groups({.nodes = 2, .failures = 6}), 150);
}

BOOST_AUTO_TEST_CASE(of_three_nodes) {
  explore_seeds(of_groups({}), 150);
}

BOOST_AUTO_TEST_CASE(of_five_nodes) {
  explore_seeds(of_groups({.nodes = 5, .steps = 500, .failures = 6, .cuts = 8, .expiries = 80}),
                40);
}

BOOST_AUTO_TEST_CASE(with_failing_hooks) {
  explore_seeds(of_groups({.failures = 2, .failed_hooks = 4}), 100);
}

BOOST_AUTO_TEST_CASE(with_nodes_that_leave) {
  explore_seeds(of_groups({.failures = 2, .leaves = 3}), 100);
}

BOOST_AUTO_TEST_CASE(with_nodes_that_differ) {
  explore_seeds(of_groups({.failures = 6, .differences = 4}), 50);
}

BOOST_AUTO_TEST_CASE(literal) {
  explore_seeds(of_groups({.must_settle = false}, of_invitation(invitation::Repairs::none())), 100);
}

BOOST_AUTO_TEST_SUITE_END()

// It promises little: every step keeps to the hook grammar.
BOOST_AUTO_TEST_SUITE(random_textbook_elections)

BOOST_AUTO_TEST_CASE(keep_to_the_hook_grammar_whatever_happens) {
  explore_seeds(of_groups({.leaves = 2, .failed_hooks = 3, .must_settle = false}, textbook()), 150);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
