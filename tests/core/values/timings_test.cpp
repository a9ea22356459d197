#include <muster/timings.hpp>

#include <boost/test/unit_test.hpp>

// Bounds and periods that do not fit each other are named before a node begins with them.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

/// "timing: expected", of the default timings but for one; empty where all fit.
std::string wrong(Duration Timings::*which, Duration length) {
  Timings timings;
  timings.*which = length;
  const auto found = misfit(timings);
  return found ? found->timing + ": " + found->expected : "";
}

BOOST_AUTO_TEST_SUITE(timings)

BOOST_AUTO_TEST_CASE(what_ships_fits) {
  BOOST_TEST(!misfit(Timings{}).has_value());
}

BOOST_AUTO_TEST_CASE(nothing_takes_no_time) {
  BOOST_TEST(wrong(&Timings::T, 0ms) == "T: longer than 0");
  BOOST_TEST(wrong(&Timings::stop_deadline, -1ns) == "stop_deadline: longer than 0");
  BOOST_TEST(wrong(&Timings::stop_deadline, 1ns) == "");
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_keeps_to_T_is_not_suspected) {
  BOOST_TEST(wrong(&Timings::coordinator_timeout, 50ms) ==
             "coordinator_timeout: longer than check_every = 50 ms, best check_every + T = 150 ms");
  BOOST_TEST(
      wrong(&Timings::coordinator_timeout, 99ms) ==
      "coordinator_timeout: at least T = 100 ms: a coordinator that is slow within T would be "
      "suspected");
  BOOST_TEST(wrong(&Timings::coordinator_timeout, 100ms) == "");
}

BOOST_AUTO_TEST_CASE(a_reorganization_has_time_for_a_question) {
  BOOST_TEST(wrong(&Timings::reorganize_deadline, 99ms) ==
             "reorganize_deadline: at least T = 100 ms, which a question to a member may take");
  BOOST_TEST(wrong(&Timings::reorganize_deadline, 100ms) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
