#include "hosts.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

/// A `stop` that goes wrong ends the process (exit code 76), in every style. If the process went
/// on, the node could not know whether the application has ceased.

using namespace muster;
using namespace std::chrono_literals;
using test::Act;
namespace data = boost::unit_test::data;

namespace {

struct Way {
  Act act;
  const char* why;
  friend std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.why; }
};
const Way ways[] = {
    {Act::throws, test::thrown},
    {Act::drops, "dropped its Done"},
    {Act::large, "its report"},
};

bool can(const test::Style& style, const Way& way) {
  return way.act != Act::drops || style.has_done;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_stop_that_goes_wrong)

BOOST_DATA_TEST_CASE(ends_the_process_in_the_lab, data::make(test::cases_in_the_lab()) * ways, made,
                     way) {
  if (!can(made.style, way)) return;
  const auto host = made.host({.nodes = 1});
  host->script().tell(NodeId{1}, Hook::stop, way.act);
  host->start(1);
  host->await("the end of the process", [&] { return !host->view(1).has_value(); });
  const auto lines = host->lines(1);
  const auto* ended = std::get_if<journal::Ended>(&lines.back());
  BOOST_TEST_REQUIRE(ended != nullptr);
  BOOST_TEST(ended->code == 76);
  BOOST_TEST(ended->why.starts_with("stop failed: "), ended->why);
  BOOST_TEST(ended->why.find(way.why) != std::string::npos, ended->why);
}

BOOST_DATA_TEST_CASE(ends_the_process_of_a_real_node, data::xrange(test::styles.size()) * ways, at,
                     way) {
  if (!can(test::styles.at(at), way)) return;
  const test::TemporaryDirectory directory;
  const test::Ports ports(1);
  test::Process process(APPLICATION_PROCESS,
                        {std::to_string(at), std::to_string(static_cast<int>(way.act)),
                         "127.0.0.1:" + std::to_string(ports[0])},
                        directory.path() / "errors");
  BOOST_TEST(process.wait() == 76);
  const auto errors = process.errors();
  BOOST_TEST_REQUIRE(!errors.empty());
  BOOST_TEST(errors.back().find("stop failed: ") != std::string::npos, errors.back());
  BOOST_TEST(errors.back().find(way.why) != std::string::npos, errors.back());
}

BOOST_AUTO_TEST_SUITE_END()
