#include "apps/examples/1-hello/hello.hpp"

#include <muster/lab/crash_everywhere.hpp>

#include <boost/test/unit_test.hpp>

// Example 1 in the lab: all nodes greet all nodes, whichever node fails.

namespace muster::test {
namespace {

BOOST_AUTO_TEST_SUITE(hello_example)

BOOST_AUTO_TEST_CASE(all_greet_all_wherever_a_node_fails) {
  std::map<NodeId, std::string> said;
  lab::WorldOptions options;
  options.nodes = 3;
  options.make_application =
      examples::greeter([&](NodeId node, const std::string& text) { said[node] = text; });
  const lab::CrashReport report = lab::crash_everywhere(
      options,
      [&](lab::World& world) {
        said.clear();
        world.run_until_normal();
        world.fail(NodeId{3});
        world.run_until_normal();
        world.restart(NodeId{3});
      },
      [&](lab::World& world) -> std::optional<std::string> {
        world.run_until_normal();
        for (const NodeId node : world.nodes()) {
          const std::string group = std::to_string(world.view(node).group->counter);
          if (said[node] != "hello, 1 2 3 in group " + group) return "said '" + said[node] + "'";
        }
        return std::nullopt;
      });
  if (report.broken) BOOST_ERROR(report.broken->where + ": " + report.broken->why);
  BOOST_TEST(report.runs > 50u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
