#include <muster/lab/session_checker.hpp>

#include <boost/test/unit_test.hpp>

// `muster check --sessions`: every interleaving of the sessions that ship.

namespace muster::test {
namespace {

BOOST_AUTO_TEST_SUITE(session_checker)

// The larger worlds are in docs/findings.md.
BOOST_AUTO_TEST_CASE(every_claim_holds_in_the_smallest_world) {
  lab::SessionBounds bounds;
  bounds.calls = 0;
  const lab::SessionReport report = lab::check_sessions(bounds, [](const auto&) {});
  BOOST_TEST(report.ended);
  BOOST_TEST(report.violated == "");
  BOOST_TEST(report.states == 4204u);
  BOOST_TEST(report.drained > 0u);
}

BOOST_AUTO_TEST_CASE(a_search_ends_where_it_is_told_to) {
  lab::SessionBounds bounds;
  bounds.states = 2000;
  const lab::SessionReport report = lab::check_sessions(bounds, [](const auto&) {});
  BOOST_TEST(!report.ended);
  BOOST_TEST(report.violated == "");
  BOOST_TEST(report.states >= 2000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
