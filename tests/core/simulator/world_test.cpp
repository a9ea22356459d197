#include <muster/journal/replay.hpp>
#include <muster/lab/world.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <stdexcept>

// A world of nodes in simulated time: a whole cluster in one value, for users' tests.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

/// All checked assertions hold. The check reads each step from the journal's text and runs it
/// again. The actions and the view must be those of the journal.
void judge(const lab::World& world) {
  for (const verify::Verdict& verdict : world.verify().verdicts)
    if (const auto* violated = std::get_if<verify::Violated>(&verdict))
      BOOST_ERROR(violated->assertion + ": " + violated->disagreement.why);
  std::istringstream text(world.journal());
  replay::Replayer replayer;
  std::uint64_t number = 0;
  for (std::string one; std::getline(text, one);) {
    const auto line = journal::parse_line(one);
    BOOST_REQUIRE_MESSAGE(line.has_value(), one);
    BOOST_TEST((*line == world.lines().at(number++)), one);
    const auto difference = replayer.take(*line).value();
    BOOST_TEST(!difference.has_value(), one);
  }
  BOOST_TEST(replayer.passed_over() == 0u);
  BOOST_TEST(replayer.exact_steps() > 0u);
}

BOOST_AUTO_TEST_CASE(nodes_form_a_group_and_form_it_again_when_the_coordinator_fails) {
  lab::World world(5, 1);
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 5u);
  BOOST_TEST(world.fail(NodeId{5}));
  BOOST_TEST(!world.is_normal());
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 4u);
  BOOST_TEST(world.restart(NodeId{5}));
  BOOST_TEST(world.run_until([&] { return world.view(NodeId{5}).status == Status::Normal; }, 10s));
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 5u);
  judge(world);
}

BOOST_AUTO_TEST_CASE(a_node_that_there_is_not_is_named) {
  lab::World world(3, 1);
  for (const NodeId node : {NodeId{0}, NodeId{4}})
    BOOST_CHECK_EXCEPTION(
        static_cast<void>(world.view(node)), std::invalid_argument, [&](const auto& refusal) {
          return std::string(refusal.what()) ==
                 "lab::World: there is no node " + to_text(node) + "; the nodes are 1 to 3";
        });
  BOOST_CHECK_THROW(world.fail(NodeId{4}), std::invalid_argument);
  BOOST_CHECK_THROW(lab::World(0, 1), std::invalid_argument);
}

}  // namespace
}  // namespace muster::test
