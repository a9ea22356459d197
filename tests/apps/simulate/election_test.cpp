#include "apps/election/election.hpp"
#include "apps/printed.hpp"
#include "storage/temporary_directory.hpp"

#include <muster/values/failure.hpp>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>

// Tests `muster election`: the cost that it counts for an election equals the closed formula.

namespace muster::test {
namespace {

using apps::election::Case;
using apps::election::Cost;
using apps::election::Kind;
using apps::election::operator==;
using apps::election::operator<<;

constexpr Case cases[] = {Case::best, Case::worst};

std::uint64_t messages(Kind kind, Case which, std::uint32_t nodes, std::uint32_t down = 1) {
  return apps::election::measure(kind, which, nodes, down).messages;
}

// The best case by the paper's text: only the coordinator is down
// (docs/protocols/textbook/README.md). Here the test states the formula for n nodes a second time.
BOOST_AUTO_TEST_CASE(the_paper_s_text_costs_what_the_formula_says) {
  for (std::uint32_t n : {2u, 3u, 4u, 5u, 7u, 11u, 16u}) {
    BOOST_TEST(messages(Kind::paper, Case::best, n) == 6 * n - 10, n);
    BOOST_TEST(messages(Kind::paper, Case::worst, n) == 9 * n - 16, n);
  }
}

BOOST_AUTO_TEST_CASE(the_textbooks_bully_costs_what_the_formula_says) {
  for (std::uint32_t n : {2u, 3u, 4u, 5u, 7u, 11u, 16u}) {
    // n - 2 Coordinator messages, and the Election message to the node that is down.
    BOOST_TEST(messages(Kind::textbook, Case::best, n) == n - 2 + 1, n);
    BOOST_TEST(messages(Kind::textbook, Case::worst, n) == n * n - n - 1, n);
  }
}

BOOST_AUTO_TEST_CASE(messages_and_time_are_the_closed_forms_whichever_nodes_are_down) {
  for (Kind kind : apps::election::kinds)
    for (Case which : cases)
      for (std::uint32_t nodes : {2u, 3u, 5u, 8u, 12u})
        for (std::uint32_t down = 1; down < nodes && down <= 5; ++down)
          BOOST_TEST(apps::election::measure(kind, which, nodes, down) ==
                         apps::election::expected(kind, which, nodes, down),
                     kind << which << nodes << " nodes, down: " << down);
}

BOOST_AUTO_TEST_CASE(times_are_written_in_their_units) {
  BOOST_TEST(apps::election::time_text({20, 0, 2, 19}) == "2 T + 9.5 RTT");
  BOOST_TEST(apps::election::time_text({20, 1, 1, 2}) == "C + T + RTT");
}

BOOST_AUTO_TEST_CASE(the_command_prints_a_table_and_leaves_a_plot) {
  TemporaryDirectory directory;
  apps::election::Options options;
  options.most_nodes = 20;
  options.svg = directory.path() / "election.svg";
  ends_well(print(apps::election::bench, options),
            {"messages", "as it ships", "textbook", "invitation", "2 T + 9 RTT",
             "All figures agree with the closed forms"});
  std::stringstream svg;
  svg << std::ifstream(*options.svg).rdbuf();
  for (const char* part :
       {"</svg>", "nodes (n)", "best", "of-invitation", "20 nodes: 164 messages"})
    BOOST_TEST(svg.str().find(part) != std::string::npos, part);
}

BOOST_AUTO_TEST_CASE(as_json_there_is_a_line_for_each_protocol_and_case) {
  apps::election::Options options;
  options.most_nodes = 5;
  options.json = true;
  const Printed said = print(apps::election::bench, options);
  BOOST_TEST(said.code == 0, said.err);
  std::istringstream lines(said.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    BOOST_TEST(boost::json::parse(line).as_object().at("as_expected").as_bool(), line);
  BOOST_TEST(count == 8u);
}

BOOST_AUTO_TEST_CASE(where_a_plot_cannot_be_left_it_says_so) {
  apps::election::Options options;
  options.least_nodes = options.most_nodes = 3;
  options.svg = "/nowhere/at/all.svg";
  const Printed said = print(apps::election::bench, options);
  BOOST_TEST(said.code == static_cast<int>(ExitCode::io_error));
  BOOST_TEST(said.err.find("/nowhere/at/all.svg") != std::string::npos, said.err);
  BOOST_TEST(said.out.empty(), said.out);  // the command refuses the path before it measures
}

}  // namespace
}  // namespace muster::test
