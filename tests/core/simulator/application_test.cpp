#include "core/simulator/ledger.hpp"

#include <muster/lab/crash_everywhere.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

// A user's own application in the lab: its hooks, cells and permits, and a crash at each possible
// point.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

std::uint64_t entries(const lab::World& world, NodeId node) {
  const auto cells = world.cells(node);
  const auto found = cells.find("entry");
  return found == cells.end() ? 0 : std::stoull(found->second.data);
}

/// Checks that all acknowledged entries are there.
std::optional<std::string> kept(const lab::World& world, const Acknowledged& acknowledged) {
  for (const auto& [node, entry] : acknowledged)
    if (entries(world, node) < entry)
      return "node " + std::to_string(node.value) + " acknowledged entry " + std::to_string(entry) +
             " and has " + std::to_string(entries(world, node));
  return std::nullopt;
}

BOOST_AUTO_TEST_CASE(cells_outlive_their_node) {
  Acknowledged acknowledged;
  lab::World world(3, 1, make_ledger(acknowledged));
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(entries(world, NodeId{2}) == 1u);
  BOOST_TEST(dynamic_cast<Ledger&>(*world.application(NodeId{2})).permit_seen);
  world.power_cut(NodeId{2});
  world.run_for(1s);
  world.restart(NodeId{2});
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(entries(world, NodeId{2}) == 2u);
  BOOST_TEST(acknowledged.at(NodeId{2}) == 2u);
  BOOST_TEST(world.verify().holds());
}

lab::CrashReport crash(bool hasty, Acknowledged& acknowledged) {
  lab::WorldOptions options;
  options.nodes = 2;
  options.make_application = make_ledger(acknowledged, hasty);
  return lab::crash_everywhere(
      options,
      [&](lab::World& world) {
        acknowledged.clear();
        world.run_until_normal();
        world.fail(NodeId{2});
        world.run_until_normal();
      },
      [&](lab::World& world) { return kept(world, acknowledged); });
}

BOOST_AUTO_TEST_CASE(an_application_that_keeps_its_word_survives_every_crash) {
  Acknowledged acknowledged;
  const lab::CrashReport report = crash(false, acknowledged);
  if (report.broken) BOOST_ERROR(report.broken->where + ": " + report.broken->why);
  BOOST_TEST(report.runs > 50u);
}

BOOST_AUTO_TEST_CASE(one_that_acknowledges_too_early_is_found) {
  Acknowledged acknowledged;
  const lab::CrashReport report = crash(true, acknowledged);
  BOOST_REQUIRE(report.broken.has_value());
  BOOST_CHECK(report.broken->point.has_value());
  BOOST_TEST(report.broken->where.starts_with("a write begins"), report.broken->where);
  BOOST_TEST(report.broken->why.find("acknowledged entry") != std::string::npos);
  BOOST_TEST(report.broken->journal.find("\"fault\":\"killed\"") != std::string::npos);
}

/// An application that keeps every permit that it gets until the test returns the permit.
struct Holding final : Application {
  Holding(Services& given, std::vector<Permit>& kept) : services(given), permits(kept) {}
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization, Done<Definition> done) override { done({"task"}); }
  void start(Assignment, Done<> done) override {
    if (auto permit = services.permits().try_acquire()) permits.push_back(std::move(*permit));
    done();
  }
  Services& services;
  std::vector<Permit>& permits;
};

BOOST_AUTO_TEST_CASE(stop_waits_for_permits_and_a_process_that_never_returns_them_ends) {
  std::vector<Permit> permits;
  lab::World world(
      2, 1, [&](Services& services) { return std::make_unique<Holding>(services, permits); });
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_REQUIRE(permits.size() == 2u);
  BOOST_TEST(permits.front().valid());
  world.fail(NodeId{2});
  BOOST_TEST(world.run_until([&] { return !permits.front().valid(); }, 5s));
  world.run_for(world.config(NodeId{1}).timings.stop_deadline / 2);
  BOOST_TEST(world.is_up(NodeId{1}));
  BOOST_TEST(!world.is_normal());
  permits.clear();
  BOOST_TEST(world.run_until_normal());

  BOOST_REQUIRE(permits.size() == 1u);
  world.restart(NodeId{2});
  world.run_for(world.config(NodeId{1}).timings.stop_deadline * 2);
  BOOST_TEST(!world.is_up(NodeId{1}));  // the application kept its permit for too long
}

BOOST_AUTO_TEST_CASE(a_permit_is_worth_nothing_while_its_process_may_have_been_paused) {
  std::vector<Permit> permits;
  lab::World world(
      2, 1, [&](Services& services) { return std::make_unique<Holding>(services, permits); });
  BOOST_REQUIRE(world.run_until_normal());
  world.pause(NodeId{1});
  world.run_for(world.config(NodeId{1}).timings.T);
  BOOST_TEST(permits.front().valid() != permits.back().valid());
}

/// An application that asks for a permit before there is a group. The application's work ends when
/// a stop is requested of the permit's stop token.
struct Waiting final : Application {
  struct Seen {
    std::vector<std::string> told;
    bool refused = false;
  };
  Waiting(Services& given, Seen& told) : services(given), seen(told) {
    services.permits().acquire("waiting").then([this](Permit permit) { work(std::move(permit)); });
    try {
      (void)services.permits().acquire().wait();
    } catch (const std::logic_error&) {
      seen.refused = true;
    }
  }
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization, Done<Definition> done) override { done({"task"}); }
  void start(Assignment task, Done<> done) override {
    seen.told.push_back("start " + to_text(task.group));
    done();
  }
  void work(Permit permit) {
    seen.told.push_back("work " + to_text(permit.group()));
    held = std::move(permit);
    ends.emplace(held->stop_token(), [this] {
      seen.told.push_back("end " + to_text(held->group()) + (held->valid() ? " valid" : ""));
      held.reset();
    });
  }
  Services& services;
  Seen& seen;
  std::optional<Permit> held;
  std::optional<std::stop_callback<std::function<void()>>> ends;
};

BOOST_AUTO_TEST_CASE(a_permit_is_waited_for_and_its_stop_ends_the_work) {
  std::map<NodeId, Waiting::Seen> seen;
  lab::World world(2, 1, [&](Services& services) {
    return std::make_unique<Waiting>(services, seen[services.self()]);
  });
  BOOST_REQUIRE(world.run_until_normal());
  const std::string group = to_text(*world.view(NodeId{1}).group);
  BOOST_TEST(world.fail(NodeId{2}));
  BOOST_REQUIRE(world.run_until_normal());
  const std::string next = to_text(*world.view(NodeId{1}).group);
  const std::vector<std::string> expected{"start " + group, "work " + group, "end " + group,
                                          "start " + next};
  BOOST_TEST(seen[NodeId{1}].told == expected, boost::test_tools::per_element());
  BOOST_TEST(seen[NodeId{1}].refused);
  BOOST_TEST(world.verify().holds());
}

struct Throwing final : Application {
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization, Done<Definition>) override {
    throw std::runtime_error("no task can be defined");
  }
  void start(Assignment, Done<> done) override { done(); }
};

BOOST_AUTO_TEST_CASE(a_hook_that_throws_has_failed) {
  lab::World world(2, 1, [](Services&) { return std::make_unique<Throwing>(); });
  BOOST_TEST(!world.run_until([&] { return world.is_normal(); }, 2s));
  BOOST_TEST(world.journal().find("it threw: no task can be defined") != std::string::npos);
}

}  // namespace
}  // namespace muster::test
