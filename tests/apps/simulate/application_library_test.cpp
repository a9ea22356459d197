#include "apps/lab/application_library.hpp"
#include "apps/lab/simulate.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <sstream>

// Tests `muster simulate --app LIB.so`.

namespace muster::test {

BOOST_AUTO_TEST_SUITE(application_library)

BOOST_DATA_TEST_CASE(an_application_in_a_library_runs_in_every_seed,
                     boost::unit_test::data::make({MUSTER_TEST_LIBRARY, MUSTER_COROUTINE_LIBRARY}),
                     library) {
  apps::SimulateOptions options;
  options.last_seed = 20;
  auto make = apps::load_application(library);
  BOOST_REQUIRE_MESSAGE(make.has_value(), (make ? "" : make.error().what));
  options.simulation.make_trial = std::move(*make);
  std::ostringstream out;
  std::ostringstream err;
  BOOST_TEST(apps::simulate(options, out, err) == 0, out.str() + err.str());
  const lab::SeedRun run = lab::run_seed(options.simulation, 1);
  std::size_t longest = 0;
  for (const journal::Line& line : run.lines)
    if (const auto* step = std::get_if<journal::Step>(&line))
      for (const Action& action : step->actions)
        if (const auto* start = std::get_if<Start>(&action))
          longest = std::max(longest, start->definition.data.size());
  BOOST_TEST(longest > 1u);  // the count in reports and definitions has grown
}

BOOST_AUTO_TEST_CASE(what_is_no_such_library_is_refused) {
  const auto why = [](const std::string& library) {
    const auto make = apps::load_application(library);
    BOOST_REQUIRE(!make);
    BOOST_TEST(make.error().code == ExitCode::usage);
    return make.error().what;
  };
  BOOST_TEST(why("nowhere.so").find("nowhere.so") != std::string::npos);
  BOOST_TEST(why(MUSTER_OLD_LIBRARY).find("version 0 of the application interface") !=
             std::string::npos);
  BOOST_TEST(why(MUSTER_NO_LIBRARY).find("it has no application") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
