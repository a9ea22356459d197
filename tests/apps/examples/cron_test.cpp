#include "apps/examples/5-cron/cron.hpp"

#include "storage/temporary_directory.hpp"

#include <muster/lab/crash_everywhere.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

// Example 5 in the lab: each job runs exactly once at each due time, whichever node fails. During a
// network cut each job runs on one side only.

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using examples::Cron;
using storage::FencedStore;

/// The store that all nodes of a world share, and the runs that these nodes have reported.
struct Shop {
  void open() {
    told.clear();
    file = directory.path() / ("store" + std::to_string(++stores));
  }
  MakeApplication make() {
    return [this](Services& node) {
      return std::make_unique<Cron>(
          node, FencedStore::open(file).value(), jobs,
          [this] { return std::chrono::floor<Cron::Time>(world ? world->now() : 0ns); },
          [this](const std::string& job, Cron::Time due) { told[job].push_back(due); });
    };
  }
  [[nodiscard]] bool has_run(std::size_t times) const {
    return told.size() == jobs.size() && std::all_of(told.begin(), told.end(), [&](const auto& of) {
             return of.second.size() >= times;
           });
  }
  /// The first due time at which a job ran twice or not at all.
  [[nodiscard]] std::optional<std::string> wrong() const {
    for (const auto& [job, times] : told) {
      for (std::size_t at = 1; at < times.size(); ++at) {
        const Cron::Time after = times[at] - times[at - 1];
        if (after != jobs.at(job))
          return job + " was run " + std::to_string(after.count()) + " ms after the run before";
      }
    }
    if (told.size() != jobs.size()) return "a job was never run";
    return std::nullopt;
  }

  const Cron::Jobs jobs{{"backup", 30ms}, {"mail", 40ms}, {"report", 50ms}};
  TemporaryDirectory directory;
  std::filesystem::path file;
  lab::World* world = nullptr;
  int stores = 0;
  std::map<std::string, std::vector<Cron::Time>> told;
};

BOOST_AUTO_TEST_SUITE(cron_example)

BOOST_AUTO_TEST_CASE(each_job_is_run_once_each_time_wherever_a_node_fails) {
  Shop shop;
  lab::WorldOptions options;
  options.nodes = 2;
  options.make_application = shop.make();
  const lab::CrashReport report = lab::crash_everywhere(
      options,
      [&](lab::World& world) {
        shop.open();
        shop.world = &world;
        world.run_until_normal();
        world.run_for(60ms);
        world.fail(NodeId{2});
        world.run_until_normal();
        world.run_for(60ms);
        world.restart(NodeId{2});
        world.run_until([&] { return shop.has_run(3); }, 5s);
      },
      [&](lab::World& world) {
        const std::size_t last = shop.told["report"].size();
        world.run_until([&] { return shop.has_run(last + 1); }, 5s);
        if (!shop.has_run(last + 1)) return std::optional<std::string>("it has come to an end");
        return shop.wrong();
      });
  if (report.broken) BOOST_ERROR(report.broken->where + ": " + report.broken->why);
  BOOST_TEST(report.runs > 50u);
}

// The Bully lets both sides form a group and work. The store accepts the runs of one side only.
BOOST_AUTO_TEST_CASE(each_job_is_run_once_each_time_where_the_network_is_cut) {
  Shop shop;
  shop.open();
  lab::World world(3, 1, shop.make());
  shop.world = &world;
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(world.run_until([&] { return shop.has_run(3); }, 1s));
  BOOST_TEST(world.cut(NodeId{3}, world.nodes()));
  const auto two_groups = [&] {
    return world.view(NodeId{1}).coordinator == NodeId{2} &&
           world.view(NodeId{3}).coordinator == NodeId{3};
  };
  BOOST_TEST(world.run_until(two_groups, 5s));
  world.run_for(1s);
  BOOST_TEST(world.heal());
  const std::size_t runs = shop.told.at("report").size();
  BOOST_TEST(world.run_until([&] { return shop.has_run(runs + 3); }, 5s));
  const auto wrong = shop.wrong();
  BOOST_TEST(!wrong.has_value(), wrong.value_or(""));
  shop.world = nullptr;
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
