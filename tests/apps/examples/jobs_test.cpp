#include "apps/examples/4-jobs/jobs.hpp"

#include "storage/temporary_directory.hpp"

#include <muster/lab/crash_everywhere.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

// Example 4 in the lab: no job is done twice, whichever node fails, and also not when a network cut
// makes two groups.

namespace muster::test {
BOOST_AUTO_TEST_SUITE(jobs_example)

namespace {

using namespace std::chrono_literals;
using examples::Jobs;
using storage::FencedStore;

/// The queue that all nodes of a world share, and the jobs that these nodes have reported.
struct Shop {
  struct Told {
    NodeId node;
    GroupNumber group;
    std::uint64_t job{};
  };

  /// Fills a new queue, for a new world.
  void fill(std::uint64_t count) {
    jobs = count;
    told.clear();
    file = directory.path() / ("queue" + std::to_string(++queues));
    Jobs::fill(*FencedStore::open(file).value(), jobs).value();
  }
  MakeApplication make() {
    return [this](Services& node) {
      return std::make_unique<Jobs>(node, FencedStore::open(file).value(),
                                    [this](NodeId by, const GroupNumber& group, std::uint64_t job) {
                                      told.push_back({by, group, job});
                                    });
    };
  }
  [[nodiscard]] bool is_done() const {
    return std::any_of(told.begin(), told.end(),
                       [this](const Told& one) { return one.job == jobs; });
  }
  /// Describes a job that was done again, or jobs that were not done. No value if all is well.
  [[nodiscard]] std::optional<std::string> wrong() const {
    std::uint64_t last = 0;
    for (const Told& one : told) {
      if (one.job <= last) return "job " + std::to_string(one.job) + " was done again";
      last = one.job;
    }
    if (last != jobs) return "only " + std::to_string(last) + " jobs were done";
    return std::nullopt;
  }

  TemporaryDirectory directory;
  std::filesystem::path file;
  std::uint64_t jobs = 0;
  int queues = 0;
  std::vector<Told> told;
};

BOOST_AUTO_TEST_CASE(each_job_is_done_once_wherever_a_node_fails) {
  Shop shop;
  lab::WorldOptions options;
  options.nodes = 2;
  options.make_application = shop.make();
  shop.fill(12);
  const lab::CrashReport report = lab::crash_everywhere(
      options,
      [&](lab::World& world) {
        shop.fill(12);
        world.run_until_normal();
        world.run_for(20ms);
        world.fail(NodeId{2});
        world.run_until_normal();
        world.run_for(20ms);
        world.restart(NodeId{2});
        world.run_until([&] { return shop.is_done(); }, 5s);
      },
      [&](lab::World& world) {
        world.run_until([&] { return shop.is_done(); }, 5s);
        return shop.wrong();
      });
  if (report.broken) BOOST_ERROR(report.broken->where + ": " + report.broken->why);
  BOOST_TEST(report.runs > 50u);
}

// The Bully lets both sides form a group and work. The queue accepts the jobs of one side only.
BOOST_AUTO_TEST_CASE(each_job_is_done_once_where_the_network_is_cut) {
  Shop shop;
  shop.fill(200);
  lab::World world(3, 1, shop.make());
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(world.run_until([&] { return shop.told.size() >= 3; }, 1s));
  BOOST_TEST(world.cut(NodeId{3}, world.nodes()));
  const auto two_groups = [&] {
    return world.view(NodeId{1}).coordinator == NodeId{2} &&
           world.view(NodeId{3}).coordinator == NodeId{3};
  };
  BOOST_TEST(world.run_until(two_groups, 5s));
  world.run_for(1s);
  BOOST_TEST(world.heal());
  BOOST_TEST(world.run_until([&] { return shop.is_done(); }, 5s));
  const auto wrong = shop.wrong();
  BOOST_TEST(!wrong.has_value(), wrong.value_or(""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
