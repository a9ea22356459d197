#include "core/world/world.hpp"

#include <muster/values/kinds.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

/// An election that a node's owner asks for, though nothing has failed. Three nodes, settled.

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
  BOOST_TEST((world.view(3).group > before));
  BOOST_TEST((world.view(3).coordinator == NodeId{3}));
  BOOST_TEST((world.view(1).group == world.view(3).group));
}

BOOST_DATA_TEST_CASE(of_a_member_leaves_them_together_under_the_highest, bdata::make(protocols)) {
  World world = settled_in(sample);
  const auto before = world.view(1).group;
  world.give(1, ElectionAsked{"to see"});
  BOOST_TEST(world.settle());
  BOOST_TEST((world.view(1).coordinator == NodeId{3}));
  // Election(i) of the Bully ends when a higher node answers.
  BOOST_TEST((world.view(1).group == before) == (sample == ProtocolName::bully));
}

BOOST_DATA_TEST_CASE(of_a_node_that_elects_or_leaves_is_nothing_new, bdata::make(protocols)) {
  World world = settled_in(sample);
  world.give(3, ElectionAsked{"to see"});
  const Protocol electing = world[3].protocol();
  world.give(3, ElectionAsked{"and again"});
  BOOST_TEST(world[3].last_actions.empty());
  BOOST_TEST((world[3].protocol() == electing));
  BOOST_REQUIRE(world.leave(1));
  world.give(1, ElectionAsked{"too late"});
  BOOST_TEST(world[1].last_actions.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
