#include <muster/lab/checker.hpp>
#include <muster/values/describe.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

// Checks the Bully with each switch off alone (docs/findings.md, "The switches"), in worlds that
// are small enough for a test.

namespace muster::lab {
namespace {

namespace data = boost::unit_test::data;

std::vector<std::string> switches() {
  std::vector<std::string> names;
  Repairs repairs;
  for_each_field(repairs, [&](const char* name, bool) { names.emplace_back(name); });
  return names;
}

CheckReport without(const std::string& which, std::uint64_t states) {
  Bounds bounds;
  for_each_field(bounds.repairs, [&](const char* name, bool& on) { on = on && name != which; });
  bounds.failures = 2;
  bounds.hooks = Hooks::slow;
  bounds.threads = 2;
  bounds.limit_states = states;
  return check(bounds, [](const Progress&) {});
}

BOOST_AUTO_TEST_SUITE(switches_off_alone)

// Real nodes refuse this configuration.
BOOST_AUTO_TEST_CASE(refusals_that_nobody_reports_let_a_reorganization_begin_too_early) {
  const CheckReport report = without("report_refusals", 400'000);
  BOOST_REQUIRE(report.counterexample.has_value());
  BOOST_TEST(report.counterexample->assertion == "hook-grammar");
  BOOST_TEST(report.counterexample->story.counted <= 11u);
}

BOOST_DATA_TEST_CASE(every_other_may_be_off, data::make(switches()), name) {
  if (name == "report_refusals") return;
  BOOST_TEST(!without(name, 30'000).counterexample.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::lab
