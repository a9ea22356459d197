#include "apps/shards/record.hpp"
#include "apps/shards/shards.hpp"

#include "storage/temporary_directory.hpp"

#include <muster/lab/crash_everywhere.hpp>
#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <set>
#include <sstream>

// The shards application, which also runs on real nodes, in the lab.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

/// The pipe to which the nodes write the records that they acknowledge.
class Pipe {
 public:
  Pipe() {
    BOOST_REQUIRE(::pipe2(ends_, O_NONBLOCK | O_CLOEXEC) == 0);
    BOOST_REQUIRE(::fcntl(ends_[1], F_SETPIPE_SZ, 1 << 20) >= 0);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  [[nodiscard]] int input() const { return ends_[1]; }
  /// All records that were acknowledged since the last call.
  std::vector<apps::Record> records() {
    std::string text;
    char buffer[65536];
    for (ssize_t count = 0; (count = ::read(ends_[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(count));
    std::vector<apps::Record> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto record = apps::parse_record_line(line);
      BOOST_REQUIRE(record.has_value());
      found.push_back(*record);
    }
    return found;
  }

 private:
  int ends_[2]{};
};

MakeApplication shards(const Pipe& pipe) {
  apps::ShardsOptions options;
  options.records_per_second = 50;
  options.acknowledge_to = pipe.input();
  return apps::make_shards(options);
}

BOOST_AUTO_TEST_CASE(shards_are_dealt_anew_when_the_coordinator_fails) {
  Pipe pipe;
  lab::World world(5, 3, shards(pipe));
  BOOST_REQUIRE(world.run_until_normal());
  world.run_for(2s);
  std::set<NodeId> workers;
  for (const apps::Record& record : pipe.records()) workers.insert(record.node);
  BOOST_TEST(workers.size() == 5u);
  world.fail(NodeId{5});
  BOOST_REQUIRE(world.run_until_normal());
  (void)pipe.records();
  world.run_for(2s);
  std::set<std::uint32_t> worked_on;
  for (const apps::Record& record : pipe.records()) {
    BOOST_TEST(record.group.coordinator.value == 4u);
    worked_on.insert(record.shard);
  }
  BOOST_TEST(worked_on.size() == apps::shard_count);
  BOOST_TEST(world.verify().holds());
}

BOOST_AUTO_TEST_CASE(no_acknowledged_record_is_lost_wherever_a_node_fails) {
  Pipe pipe;
  lab::WorldOptions options;
  options.nodes = 2;
  options.make_application = shards(pipe);
  const lab::CrashReport report = lab::crash_everywhere(
      options,
      [&](lab::World& world) {
        (void)pipe.records();
        world.run_until_normal();
        world.run_for(60ms);
      },
      [&](lab::World& world) -> std::optional<std::string> {
        for (const apps::Record& record : pipe.records())
          if (!world.cells(record.node).contains(apps::record_key(record)))
            return "lost: " + apps::record_line(record);
        return std::nullopt;
      });
  if (report.broken) BOOST_ERROR(report.broken->where + ": " + report.broken->why);
  BOOST_TEST(report.runs > 30u);
}

BOOST_AUTO_TEST_CASE(the_store_may_be_the_one_that_ships) {
  TemporaryDirectory directory;
  Pipe pipe;
  lab::WorldOptions options;
  options.nodes = 3;
  options.make_application = shards(pipe);
  options.open_storage = [&](NodeId node) {
    const auto path = directory.path() / ("n" + std::to_string(node.value));
    return storage::SqliteStorage::open(path, {"lab", node}).value();
  };
  lab::World world(options);
  BOOST_REQUIRE(world.run_until_normal());
  world.run_for(200ms);
  world.fail(NodeId{3});
  BOOST_REQUIRE(world.run_until_normal());
  world.restart(NodeId{3});
  world.run_for(100ms);
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(world.safe(NodeId{3}).incarnation.value == 2u);
  for (const apps::Record& record : pipe.records())
    BOOST_TEST(world.cells(record.node).contains(apps::record_key(record)));
  BOOST_TEST(world.verify().holds());
}

}  // namespace
}  // namespace muster::test
