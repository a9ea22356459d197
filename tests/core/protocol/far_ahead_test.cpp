#include "core/world/world.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

/// Impossible group numbers from a peer that lies or is broken. Three nodes, settled.

namespace muster::test {
namespace {

namespace bdata = boost::unit_test::data;

const std::vector<ProtocolName> all_protocols{ProtocolName::bully, ProtocolName::invitation,
                                              ProtocolName::textbook};

/// The letter by which a coordinator of that protocol announces its group.
Message tells_of(ProtocolName protocol, const GroupNumber& group) {
  if (protocol == ProtocolName::invitation) return invitation::Invitation{group};
  if (protocol == ProtocolName::textbook) return textbook::Coordinator{group, {}};
  return NewCoordinator{{NodeId{3}, Incarnation{1}, 9}, Incarnation{1}, group};
}

Received from_3(Message message) {
  return Received{{NodeId{3}, Incarnation{1}, NodeId{1}, CallNumber{900}, std::move(message)}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(far_ahead)

BOOST_DATA_TEST_CASE(a_call_with_a_number_that_cannot_be_is_refused, bdata::make(all_protocols)) {
  Config config;
  config.protocol = sample;
  World world = settled(3, config);
  const Protocol before = world[1].protocol();
  const std::uint64_t counter = common(before).counter;
  world.give(1, from_3(tells_of(sample, {counter + most_groups_ahead + 1, NodeId{3}})));
  BOOST_TEST(world[1].protocol() == before);
  const auto& sent = std::get<Send>(world[1].last_actions.at(0));
  const auto& refused = std::get<Refused>(std::get<Answer>(sent.letter.message).result);
  BOOST_TEST(refused.why == "no group number is so far ahead of " + std::to_string(counter));
  world.give(1, from_3(tells_of(sample, {counter + most_groups_ahead, NodeId{3}})));
  BOOST_TEST((world[1].protocol() != before || sample == ProtocolName::bully));
}

BOOST_AUTO_TEST_CASE(a_node_that_knows_of_no_group_believes_any) {
  Config config;
  config.self = NodeId{1};
  config.nodes = {NodeId{1}, NodeId{2}, NodeId{3}};
  Protocol node = begin(config);
  step(config, node, Recovered{{Incarnation{1}, 0, {}, {}, {}}});
  step(config, node, from_3(Halt{{NodeId{3}, Incarnation{1}, 9}}));
  const std::uint64_t far = std::uint64_t{1} << 40;
  step(config, node, from_3(tells_of(ProtocolName::bully, {far, NodeId{3}})));
  BOOST_TEST(common(node).counter == far);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
