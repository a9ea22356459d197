#include "core/world/come_to_rest.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

/// The scenarios in tests/core/bully/scenarios. Each file contains a script and the journal that
/// this script must produce. With MUSTER_REWRITE=1 in the environment the test rewrites the
/// journals, to be reviewed as a diff.

namespace muster::test {

namespace {

namespace fs = std::filesystem;

constexpr const char* separator = "--- journal\n";

struct Scenario {
  fs::path file;
  std::string text;      ///< the text before the separator: the script with its comments
  std::string expected;  ///< the text after the separator
  std::uint32_t nodes = 3;
  bool literal = false;
  std::vector<Command> script;

  [[nodiscard]] World world() const { return World(nodes, literal ? Repairs::none() : Repairs{}); }
};

// The first lines are "nodes 3", and "literal" if every switch is off.
Scenario read(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream whole;
  whole << in.rdbuf();
  Scenario scenario;
  scenario.file = file;
  scenario.text = whole.str();
  if (const auto at = scenario.text.find(separator); at != std::string::npos) {
    scenario.expected = scenario.text.substr(at + std::string(separator).size());
    scenario.text.resize(at);
  }
  std::istringstream lines(scenario.text);
  std::string script;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("nodes "))
      scenario.nodes = static_cast<std::uint32_t>(std::stoul(line.substr(6)));
    else if (line == "literal")
      scenario.literal = true;
    else
      script += line + '\n';
  }
  scenario.script = parse_script(script);
  return scenario;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(MUSTER_SCENARIOS))
    if (entry.path().extension() == ".txt") all.push_back(entry.path().stem().string());
  std::sort(all.begin(), all.end());
  return all;
}

Scenario named(const std::string& name) {
  return read(fs::path(MUSTER_SCENARIOS) / (name + ".txt"));
}

// The world after the script. Every command of the script must be possible.
World play(const Scenario& scenario) {
  World world = scenario.world();
  for (const Command& command : scenario.script) {
    world.say("> " + to_line(command));
    if (run(world, command)) continue;
    std::string so_far;
    for (const std::string& line : world.journal()) so_far += line + '\n';
    BOOST_FAIL(scenario.file.filename() << ": not possible: " << to_line(command) << '\n'
                                        << so_far);
  }
  return world;
}

// Plays the script again with one injected failure. The test skips the commands that the failure
// makes impossible. The failed node begins its next life at once, or after the script.
std::optional<std::string> play_with_a_failure(const Scenario& scenario, Injection failure,
                                               bool back_at_once) {
  World world = scenario.world();
  world.record = std::any_of(scenario.script.begin(), scenario.script.end(),
                             [](const Command& command) { return command.verb == "repeat"; });
  world.inject = failure;
  bool failed = false;
  for (const Command& command : scenario.script) {
    run(world, command);
    if (!failed && !world.inject) {
      failed = true;
      if (back_at_once) world.recover(failure.node);
    }
  }
  for (std::uint32_t i = 1; i <= world.size(); ++i) world[i].hold_hooks = false;
  return come_to_rest(world, !scenario.literal, Return::at_once);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scenarios)

BOOST_DATA_TEST_CASE(play_as_expected, boost::unit_test::data::make(names()), name) {
  const Scenario scenario = named(name);
  const World world = play(scenario);
  std::string journal;
  for (const std::string& line : world.journal()) journal += line + '\n';
  if (std::getenv("MUSTER_REWRITE")) {
    std::ofstream(scenario.file) << scenario.text << separator << journal;
    return;
  }
  std::istringstream expected(scenario.expected);
  std::istringstream made(journal);
  std::string wanted;
  for (std::string line; std::getline(made, line);) {
    std::getline(expected, wanted);
    BOOST_REQUIRE_EQUAL(line, wanted);
    wanted.clear();
  }
  BOOST_TEST(!std::getline(expected, wanted));
}

BOOST_DATA_TEST_CASE(come_to_rest_when_failures_cease, boost::unit_test::data::make(names()),
                     name) {
  const Scenario scenario = named(name);
  World world = play(scenario);
  for (std::uint32_t i = 1; i <= world.size(); ++i) world[i].hold_hooks = false;
  BOOST_TEST(come_to_rest(world, !scenario.literal).value_or("") == "");
}

BOOST_DATA_TEST_CASE(hold_with_each_node_failing_after_each_action,
                     boost::unit_test::data::make(names()), name) {
  const Scenario scenario = named(name);
  const World whole = play(scenario);
  for (std::uint32_t node = 1; node <= scenario.nodes; ++node) {
    for (std::size_t after = 1; after <= whole[node].actions; ++after) {
      for (const bool back_at_once : {true, false}) {
        const std::string where = "node " + std::to_string(node) + " fails after its action " +
                                  std::to_string(after) + (back_at_once ? ", back at once" : "");
        try {
          const auto wrong = play_with_a_failure(scenario, {node, after}, back_at_once);
          BOOST_TEST(!wrong.has_value(), where << ": " << wrong.value_or(""));
        } catch (const Violation& violation) {
          BOOST_ERROR(where << ": " << violation.what());
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
