#include "apps/examples/3-kv/kv.hpp"

#include <muster/lab/crash_everywhere.hpp>

#include <boost/test/unit_test.hpp>

#include <map>

// Example 3 in the lab: no acknowledged write is lost, whichever node fails. This is also true if a
// node that missed a write was alone for a while.

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using examples::KeyValue;

/// A store on the nodes of a world, and the events that the store has reported. The values of a key
/// are numbers that only grow.
struct Client {
  MakeApplication make() {
    return [this](Services& node) {
      return std::make_unique<KeyValue>(
          node, [this](const std::string& line) { told(line); }, nodes[node.self()]);
    };
  }
  void begin() {
    acknowledged.clear();
    present.clear();
  }
  void told(const std::string& line) {
    if (const auto equals = line.find(" = "); equals != std::string::npos)
      acknowledged[line.substr(0, equals)] = number(line.substr(equals + 3));
    else
      present[line.substr(0, line.find(':'))] = number(line.substr(line.find(':') + 1));
  }
  static int number(const std::string& text) { return std::atoi(text.c_str()); }

  /// Sends the write to all nodes. The primary performs it.
  void write(lab::World& world, const std::string& key, int value) {
    for (const auto& [node, kv] : nodes)
      if (kv && world.is_up(node)) kv->write(key, std::to_string(value));
    world.run_for(10ms);
  }
  std::optional<std::string> lost(lab::World& world) {
    if (!world.run_until_normal()) return "the nodes were never Normal";
    for (const auto& [key, value] : acknowledged) {
      for (const auto& [node, kv] : nodes)
        if (kv && world.is_up(node)) kv->read(key);
      if (!present.contains(key)) return "nobody gave " + key;
      if (present[key] < value)
        return key + " = " + std::to_string(value) + " was acknowledged, and is " +
               std::to_string(present[key]);
    }
    return std::nullopt;
  }

  std::map<NodeId, KeyValue*> nodes;
  std::map<std::string, int> acknowledged, present;
};

BOOST_AUTO_TEST_SUITE(kv_example)

BOOST_AUTO_TEST_CASE(no_acknowledged_write_is_lost_wherever_a_node_fails) {
  Client client;
  lab::WorldOptions options;
  options.nodes = 3;
  options.make_application = client.make();
  std::size_t most = 0;
  const lab::CrashReport report = lab::crash_everywhere(
      options,
      [&](lab::World& world) {
        client.begin();
        world.run_until_normal();
        client.write(world, "a", 1);
        world.fail(NodeId{3});
        world.run_until_normal();
        client.write(world, "a", 2);
        client.write(world, "b", 1);
        world.restart(NodeId{3});
        world.run_until_normal();
        client.write(world, "c", 1);
        world.fail(NodeId{1});
        world.run_until_normal();
        client.write(world, "b", 2);
        most = std::max(most, client.acknowledged.size());
      },
      [&](lab::World& world) { return client.lost(world); });
  if (report.broken) BOOST_ERROR(report.broken->where + ": " + report.broken->why);
  BOOST_TEST(report.runs > 100u);
  BOOST_TEST(most == 3u);
}

BOOST_AUTO_TEST_CASE(a_node_that_comes_back_gets_what_it_has_missed) {
  Client client;
  lab::World world(3, 1, client.make());
  BOOST_REQUIRE(world.run_until_normal());
  client.write(world, "a", 1);
  world.fail(NodeId{3});
  BOOST_REQUIRE(world.run_until_normal());
  client.write(world, "a", 2);
  BOOST_TEST(client.acknowledged["a"] == 2);
  world.fail(NodeId{1});
  world.restart(NodeId{3});
  BOOST_REQUIRE(world.run_until_normal());
  world.fail(NodeId{2});
  world.restart(NodeId{1});
  BOOST_TEST(client.lost(world).value_or("") == "");
  BOOST_TEST(client.present["a"] == 2);
}

// Node 3 misses a write and is the first to start again. Since node 3 is alone then, it forms the
// group with the highest number.
BOOST_AUTO_TEST_CASE(a_node_that_was_alone_rolls_nothing_back) {
  Client client;
  lab::World world(3, 1, client.make());
  BOOST_REQUIRE(world.run_until_normal());
  client.write(world, "a", 1);
  world.fail(NodeId{3});
  BOOST_REQUIRE(world.run_until_normal());
  client.write(world, "a", 2);
  for (const std::uint32_t node : {2u, 1u}) world.fail(NodeId{node});
  world.restart(NodeId{3});
  BOOST_REQUIRE(world.run_until_normal());
  client.write(world, "b", 1);
  for (const std::uint32_t node : {1u, 2u}) world.restart(NodeId{node});
  BOOST_TEST(client.lost(world).value_or("") == "");
  BOOST_TEST(client.present["a"] == 2);
  BOOST_TEST(!client.acknowledged.contains("b"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
