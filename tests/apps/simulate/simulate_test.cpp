#include "apps/lab/simulate.hpp"
#include "apps/journals/verify.hpp"
#include "apps/lab/replay.hpp"
#include "apps/printed.hpp"
#include "storage/temporary_directory.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <sstream>

// `muster simulate`.

namespace muster::test {
namespace {

Printed simulate(const apps::SimulateOptions& options) {
  return print(apps::simulate, options);
}

BOOST_AUTO_TEST_CASE(a_campaign_says_what_it_did) {
  apps::SimulateOptions options;
  options.last_seed = 20;
  ends_well(simulate(options), {"1a", "works-apart", "hook-grammar", "faults: crash ", "pairs of",
                                "20 seeds of 3 to 7 nodes", "times faster"});
}

BOOST_AUTO_TEST_CASE(as_json_each_line_is_an_object_and_the_last_has_the_figures) {
  apps::SimulateOptions options;
  options.last_seed = 4;
  options.json = true;
  std::istringstream lines(simulate(options).out);
  boost::json::object last;
  std::size_t verdicts = 0;
  for (std::string line; std::getline(lines, line);) {
    last = boost::json::parse(line).as_object();
    verdicts += last.contains("assertion") ? 1 : 0;
  }
  BOOST_TEST(verdicts == 8u);
  BOOST_TEST(last.at("seeds").to_number<int>() == 4);
  const std::size_t kinds = lab::Simulation::all().size();
  BOOST_TEST(last.at("troubles").as_object().size() == kinds);
  BOOST_TEST(last.at("pairs").as_array().size() == kinds * (kinds - 1) / 2);
}

BOOST_AUTO_TEST_CASE(a_campaign_is_judged_by_what_its_protocol_claims) {
  for (const auto protocol : {ProtocolName::invitation, ProtocolName::textbook}) {
    apps::SimulateOptions options;
    options.simulation.protocol = protocol;
    options.last_seed = 3;
    options.json = true;
    const Printed said = simulate(options);
    const bool of_groups = protocol == ProtocolName::invitation;
    ends_well(said, {of_groups ? "\"protocol\":\"invitation\"" : "\"protocol\":\"textbook\""});
    BOOST_TEST(said.says("\"assertion\":\"4\"") == of_groups);
    BOOST_TEST(said.says("\"assertion\":\"2\"") != of_groups);
  }
}

BOOST_AUTO_TEST_CASE(a_single_seed_leaves_its_journal_and_holds) {
  TemporaryDirectory directory;
  apps::SimulateOptions options;
  options.first_seed = options.last_seed = 3;
  options.out = directory.path();
  BOOST_TEST(simulate(options).code == 0);
  std::ostringstream out;
  std::ostringstream err;
  const auto journal = directory.path() / "seed-3.jsonl";
  BOOST_TEST(apps::verify({{journal}, false}, out, err) == 0, err.str());
  apps::ReplayOptions replay;
  replay.journals = {journal};
  BOOST_TEST(apps::replay(replay, out, err) == 0, err.str());
}

lab::Trouble constexpr cuts = lab::Trouble::partition;

// Five nodes whose network is cut again and again. During a cut two groups may work.
apps::SimulateOptions partitions() {
  apps::SimulateOptions options;
  options.simulation.least_nodes = options.simulation.most_nodes = 5;
  options.simulation.allowed = {cuts};
  options.faults_named = true;
  options.last_seed = 12;
  return options;
}

BOOST_AUTO_TEST_CASE(the_time_for_which_an_assertion_is_not_claimed_is_told) {
  const Printed said = simulate(partitions());
  ends_well(said, {"works-apart   holds where it is claimed; not claimed for ", " s of ",
                   "(assumption 8: cut)", "group-grows   holds; ", "faults: partition ", " seeds"});
}

BOOST_AUTO_TEST_CASE(what_is_asked_for_is_judged_in_cuts_too) {
  apps::SimulateOptions options = partitions();
  options.simulation.assertions = {"works-apart"};
  const Printed said = simulate(options);
  fails(said, {"seeds violated an assertion"});
  BOOST_TEST(said.says("works-apart DOES NOT HOLD: node "), said);
  BOOST_TEST(said.says("works-apart   DOES NOT HOLD; "), said);
  BOOST_TEST(said.says("1a            holds where it is claimed; not claimed for "), said);
}

BOOST_AUTO_TEST_CASE(as_json_a_time_without_a_claim_has_its_causes) {
  apps::SimulateOptions options = partitions();
  options.json = true;
  std::istringstream lines(simulate(options).out);
  std::string line;
  std::getline(lines, line);
  const boost::json::object verdict = boost::json::parse(line).as_object();
  BOOST_TEST(verdict.at("assertion") == "1a");
  BOOST_TEST(verdict.at("holds").as_bool());
  const auto not_claimed = verdict.at("not_claimed_ns").as_int64();
  BOOST_TEST(not_claimed > 0);
  BOOST_TEST(not_claimed < verdict.at("of_ns").as_int64());
  BOOST_TEST(verdict.at("causes_ns").at("assumption 8: cut").as_int64() == not_claimed);
}

// A seed draws some kinds of faults and leaves out others. Its result says nothing about the kinds
// that it leaves out.
BOOST_AUTO_TEST_CASE(a_fault_that_was_asked_for_and_never_came_about_decides_nothing) {
  apps::SimulateOptions options = partitions();
  for (std::uint64_t seed = 1;; ++seed) {
    if (lab::run_seed(options.simulation, seed).counts[static_cast<std::size_t>(cuts)] > 0)
      continue;
    options.first_seed = options.last_seed = seed;
    break;
  }
  is_undecided(simulate(options), {"partition never occurred"});
  options.json = true;
  const Printed said = simulate(options);
  BOOST_TEST(!said.says("\"holds\":true"), said);
  BOOST_TEST(said.says("\"never_came_about\":[\"partition\"]"), said);
  options.faults_named = false;
  BOOST_TEST(simulate(options).code == 0);
}

// With two nodes and one rare kind of fault, some campaigns have no seed that draws this fault.
BOOST_AUTO_TEST_CASE(a_kind_of_trouble_that_never_came_about_is_named) {
  lab::Simulation simulation;
  simulation.allowed = {lab::Trouble::wipe, lab::Trouble::reset};
  lab::Campaign campaign;
  campaign.counts[static_cast<std::size_t>(lab::Trouble::reset)] = 3;
  BOOST_TEST(campaign.missing(simulation) == std::vector{lab::Trouble::wipe});
}

}  // namespace
}  // namespace muster::test
