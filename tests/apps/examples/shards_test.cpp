#include "apps/examples/2-shards/shards.hpp"

#include <muster/lab/crash_everywhere.hpp>

#include <boost/test/unit_test.hpp>

#include <set>

// Example 2 in the lab: in each group exactly one member works on each shard, and no record is
// written twice, whichever node fails.

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using examples::Record;
using examples::Shards;

/// The events that the nodes of a world reported.
struct Book {
  MakeApplication make() {
    return [this](Services& node) {
      return std::make_unique<Shards>(
          node, [this](NodeId by, std::uint32_t shard, const Record& record) {
            if (!records.insert({shard, record}).second) wrong = name(shard) + "was written twice";
            const NodeId worker = workers[record.group].emplace(shard, by).first->second;
            if (worker != by) wrong = name(shard) + "has two members in one group";
          });
    };
  }
  static std::string name(std::uint32_t shard) { return "shard " + std::to_string(shard) + ' '; }

  /// Runs until all shards are worked on and all nodes that are up take part.
  [[nodiscard]] bool run_until_all_work(lab::World& world) {
    if (!world.run_until_normal()) return false;
    const GroupNumber group = *world.view(*up(world).begin()).group;
    return world.run_until([&] { return workers[group].size() == Shards::count; }, 5s) &&
           members(group) == up(world);
  }
  [[nodiscard]] NodeSet members(const GroupNumber& group) const {
    NodeSet all;
    for (const auto& [shard, member] : workers.at(group)) all.insert(member);
    return all;
  }
  static NodeSet up(const lab::World& world) {
    NodeSet all;
    for (const NodeId node : world.nodes())
      if (world.is_up(node)) all.insert(node);
    return all;
  }

  std::set<std::pair<std::uint32_t, Record>> records;
  std::map<GroupNumber, std::map<std::uint32_t, NodeId>> workers;
  std::optional<std::string> wrong;
};

BOOST_AUTO_TEST_SUITE(shards_example)

BOOST_AUTO_TEST_CASE(all_shards_are_worked_on_once_wherever_a_node_fails) {
  Book book;
  lab::WorldOptions options;
  options.nodes = 3;
  options.make_application = book.make();
  const lab::CrashReport report = lab::crash_everywhere(
      options,
      [&](lab::World& world) {
        book = {};
        world.run_until_normal();
        world.run_for(20ms);
        world.fail(NodeId{3});
        world.run_until_normal();
        world.run_for(20ms);
        world.restart(NodeId{3});
      },
      [&](lab::World& world) {
        if (!book.run_until_all_work(world)) book.wrong = "not all shards are worked on by all";
        return book.wrong;
      });
  if (report.broken) BOOST_ERROR(report.broken->where + ": " + report.broken->why);
  BOOST_TEST(report.runs > 100u);
}

// The next coordinator learns from a member's report which records the member has.
BOOST_AUTO_TEST_CASE(shards_stay_where_they_were_and_go_on_from_their_last_record) {
  Book book;
  lab::World world(3, 1, book.make());
  BOOST_REQUIRE(book.run_until_all_work(world));
  const GroupNumber before = *world.view(NodeId{1}).group;
  BOOST_TEST(world.fail(NodeId{3}));
  BOOST_REQUIRE(book.run_until_all_work(world));
  const GroupNumber after = *world.view(NodeId{1}).group;
  for (const auto& [shard, member] : book.workers.at(before)) {
    BOOST_TEST_CONTEXT("shard " << shard) {
      if (member != NodeId{3}) BOOST_TEST(book.workers.at(after).at(shard) == member);
      std::uint64_t last = 0;
      std::uint64_t first = 0;
      for (const auto& [of, record] : book.records) {
        if (of != shard) continue;
        if (record.group == before) last = record.number;
        if (record.group == after && first == 0) first = record.number;
      }
      BOOST_TEST(first == (member == NodeId{3} ? 1 : last + 1));
    }
  }
}

// Node 3 misses records and is the first to start again. The sequence numbers do not go back to
// those of node 3.
BOOST_AUTO_TEST_CASE(a_node_that_was_alone_does_not_set_the_numbers_back) {
  Book book;
  lab::World world(3, 1, book.make());
  BOOST_REQUIRE(book.run_until_all_work(world));
  world.fail(NodeId{3});
  BOOST_REQUIRE(book.run_until_all_work(world));
  world.run_for(std::chrono::seconds(1));
  std::map<std::uint32_t, std::uint64_t> highest;
  for (const auto& [shard, record] : book.records)
    highest[shard] = std::max(highest[shard], record.number);
  for (const std::uint32_t node : {2u, 1u}) world.fail(NodeId{node});
  world.restart(NodeId{3});
  BOOST_REQUIRE(book.run_until_all_work(world));
  for (const std::uint32_t node : {1u, 2u}) world.restart(NodeId{node});
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_REQUIRE(book.run_until_all_work(world));
  const GroupNumber last = *world.view(NodeId{1}).group;
  for (const auto& [shard, record] : book.records)
    if (record.group == last) BOOST_TEST(record.number > highest[shard]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
