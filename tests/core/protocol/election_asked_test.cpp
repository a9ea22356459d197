#include "core/world/world.hpp"

#include <muster/detail/values/kinds.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

/// An election that the owner of a node asks for, although nothing has failed. Three nodes,
/// settled.

namespace muster::test {
namespace {

namespace bdata = boost::unit_test::data;

const std::vector<ProtocolName> protocols{ProtocolName::bully, ProtocolName::invitation,
                                          ProtocolName::textbook};

World settled_in(ProtocolName protocol) {
  Config config;
  config.protocol = protocol;
  World world = settled(3, config);
  BOOST_REQUIRE(world.view(1).coordinator == NodeId{3});
  return world;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(election_asked)

BOOST_DATA_TEST_CASE(of_the_highest_makes_its_group_anew, bdata::make(protocols)) {
  World world = settled_in(sample);
  const auto before = world.view(3).group;
  world.give(3, ElectionAsked{"to see"});
  BOOST_TEST(world.settle());
  BOOST_TEST(world.view(3).group > before);
  BOOST_TEST(world.view(3).coordinator == NodeId{3});
  BOOST_TEST(world.view(1).group == world.view(3).group);
}

BOOST_DATA_TEST_CASE(of_a_member_makes_its_group_anew_under_the_highest, bdata::make(protocols)) {
  World world = settled_in(sample);
  const auto before = world.view(1).group;
  world.give(1, ElectionAsked{"to see"});
  BOOST_TEST(world.settle());
  BOOST_TEST(world.view(1).coordinator == NodeId{3});
  BOOST_TEST(world.view(1).group > before);
}

// After the request the coordinator's own report is out of date. Without another election the group
// would become Normal with a task that rests on that report.
BOOST_DATA_TEST_CASE(of_a_coordinator_that_has_started_and_waits_for_others_is_heeded,
                     bdata::make({ProtocolName::bully, ProtocolName::invitation})) {
  World world = settled_in(sample);  // textbook members do not wait
  world[1].hold_hooks = true;
  world.give(3, ElectionAsked{"to see"});
  BOOST_REQUIRE(world.run_until([](const World& now) {
    return now.view(1).status == Status::Election && now.view(1).application == Activity::Stopping;
  }));
  world.end_hook(1);
  BOOST_REQUIRE(world.run_until([](const World& now) {
    return now.view(3).application == Activity::Working &&
           now.view(1).application == Activity::Starting;
  }));
  const auto waits = world.view(3).group;
  world.give(3, ElectionAsked{"it is not so any more"});
  world[1].hold_hooks = false;
  BOOST_TEST(world.settle());
  BOOST_TEST(world.view(3).group > waits);
}

BOOST_DATA_TEST_CASE(of_a_node_that_elects_or_leaves_is_nothing_new, bdata::make(protocols)) {
  World world = settled_in(sample);
  world.give(3, ElectionAsked{"to see"});
  const Protocol electing = world[3].protocol();
  world.give(3, ElectionAsked{"and again"});
  BOOST_TEST(world[3].last_actions.empty());
  BOOST_TEST(world[3].protocol() == electing);
  BOOST_REQUIRE(world.leave(1));
  world.give(1, ElectionAsked{"too late"});
  BOOST_TEST(world[1].last_actions.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
