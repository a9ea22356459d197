#include "hosts.hpp"

#include <muster/adapters.hpp>
#include <muster/net/coroutines.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>

// The awaitable operations of coroutines, and the fate of coroutines that are abandoned. Also tests
// applications that omit some functions.

namespace muster::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Counts what has happened to the coroutines of a test.
struct Seen {
  std::atomic<int> suspended = 0;      ///< coroutines that exist now
  std::atomic<int> applications = 0;   ///< applications that exist now
  std::atomic<bool> outlived = false;  ///< a coroutine was destroyed after its application
  std::atomic<int> rounds = 0;
  std::atomic<std::uint64_t> started = 0, worked = 0;  ///< counters of groups
  std::atomic<bool> wrong = false;
};

class Suspended {
 public:
  explicit Suspended(Seen& seen) : seen_(seen) { ++seen_.suspended; }
  Suspended(const Suspended&) = delete;
  Suspended& operator=(const Suspended&) = delete;
  ~Suspended() {
    --seen_.suspended;
    if (seen_.applications == 0) seen_.outlived = true;
  }

 private:
  Seen& seen_;
};

/// An application with nothing to stop and nothing to define.
class Usual : public net::Coroutines {
 public:
  Usual(Services& services, Seen& told) : Coroutines(services), seen(told) { ++seen.applications; }
  ~Usual() override { --seen.applications; }
  awaitable<Report> stop(StopContext) override { co_return Report(); }
  awaitable<Definition> reorganize(Reorganization) override { co_return Definition(); }

 protected:
  Seen& seen;
};

template <class Application>
MakeApplication make(Seen& seen) {
  return [&seen](Services& services) {
    return net::make_application(std::make_unique<Application>(services, seen));
  };
}

/// Counts its starts in a cell.
struct Counting final : Usual {
  using Usual::Usual;
  awaitable<> start(Assignment) override {
    const Cells cells = co_await scan("starts");
    const int starts = cells.empty() ? 0 : std::stoi(cells.front().second.data);
    co_await write({"starts", {std::to_string(starts + 1)}});
  }
};

/// An application whose `start` spawns work that goes on after `start` has returned.
struct Working final : Usual {
  using Usual::Usual;
  awaitable<> start(Assignment) override {
    const auto executor = co_await asio::this_coro::executor;
    asio::co_spawn(executor, work(), asio::detached);
  }
  awaitable<> work() {
    const Suspended here(seen);
    while (true) {
      co_await wait_for(1ms);
      ++seen.rounds;
    }
  }
};

/// An application that works for one group after the other. It begins to wait for a group before
/// there is one.
struct Permitted final : Usual {
  using Usual::Usual;
  awaitable<Report> stop(StopContext context) override {
    if (!context.group) {
      const auto executor = co_await asio::this_coro::executor;
      asio::co_spawn(executor, work(), asio::detached);
    }
    Report report;
    co_return report;
  }
  awaitable<> start(Assignment assignment) override {
    seen.started = assignment.group.counter;
    co_return;
  }
  awaitable<> work() {
    const Suspended here(seen);
    while (true) {
      const Permit permit = co_await services().permits().acquire("work");
      if (permit.group().counter != seen.started) seen.wrong = true;
      seen.worked = permit.group().counter;
      ++seen.rounds;
      co_await wait_for(1ms);
    }
  }
};

/// An application that awaits Asio's timers on the application's executor.
struct Timed final : Usual {
  using Usual::Usual;
  awaitable<> start(Assignment) override {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, 1ms);
    co_await timer.async_wait(asio::use_awaitable);
    asio::co_spawn(executor, for_ever(), asio::detached);
  }
  awaitable<> for_ever() {
    const Suspended here(seen);
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, 24h);
    co_await timer.async_wait(asio::use_awaitable);
  }
};

struct ThrowingNumbers final : Usual {
  using Usual::Usual;
  awaitable<> start(Assignment) override {
    co_await wait_for(1us);
    throw 42;
  }
};

BOOST_AUTO_TEST_SUITE(coroutines)

BOOST_AUTO_TEST_CASE(cells_are_written_and_read) {
  Seen seen;
  lab::World world(2, 1, make<Counting>(seen));
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(world.fail(NodeId{2}));
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(std::stoi(world.cells(NodeId{1}).at("starts").data) >= 2);
  BOOST_TEST(world.verify().holds());
}

BOOST_AUTO_TEST_CASE(equal_worlds_run_equally) {
  const auto journal = [] {
    Seen seen;
    lab::World world(3, 7, make<Working>(seen));
    world.run_until_normal();
    world.fail(NodeId{3});
    world.run_until_normal();
    return world.journal() + std::to_string(seen.rounds);
  };
  BOOST_TEST(journal() == journal());
}

BOOST_AUTO_TEST_CASE(what_a_hook_spawns_works_until_the_life_is_over) {
  Seen seen;
  {
    lab::World world(1, 1, make<Working>(seen));
    BOOST_REQUIRE(world.run_until_normal());
    BOOST_TEST(world.run_until([&] { return seen.rounds >= 10; }, 1s));
    BOOST_TEST(seen.suspended == 1);
    world.fail(NodeId{1});
    world.run_for(1s);
    BOOST_TEST(seen.suspended == 0);
    BOOST_TEST(seen.applications == 0);
    const int rounds = seen.rounds;
    world.run_for(1s);
    BOOST_TEST(seen.rounds == rounds);
    world.restart(NodeId{1});
    BOOST_REQUIRE(world.run_until_normal());
    BOOST_TEST(seen.suspended == 1);
  }
  BOOST_TEST(seen.suspended == 0);  // the world ended first
  BOOST_TEST(!seen.outlived);
}

BOOST_AUTO_TEST_CASE(on_real_nodes_they_may_await_timers_and_end_with_the_life) {
  Seen seen;
  for (const MakeApplication& application : {make<Timed>(seen), make<Working>(seen)}) {
    Cluster cluster({.nodes = 1, .application = application});
    cluster.join(1);
    cluster.await("the work", [&] { return seen.suspended == 1; });
    cluster.kill(1);
    BOOST_TEST(seen.suspended == 0);
    BOOST_TEST(seen.applications == 0);
    cluster.join(1);
    cluster.leave(1);
    BOOST_TEST(seen.suspended == 0);
    BOOST_TEST(seen.applications == 0);
    BOOST_TEST(!seen.outlived);
    cluster.judge();
  }
}

BOOST_AUTO_TEST_CASE(a_permit_is_awaited_until_there_is_a_group_in_the_lab) {
  Seen seen, of_the_other;
  lab::World world(2, 1, [&](Services& services) {
    Seen& told = services.self() == NodeId{1} ? seen : of_the_other;
    return net::make_application(std::make_unique<Permitted>(services, told));
  });
  for (int groups = 0; groups < 3; ++groups) {
    BOOST_REQUIRE(world.run_until_normal());
    BOOST_TEST(world.run_until([&] { return seen.worked == seen.started; }, 1s));
    BOOST_TEST(seen.worked == world.view(NodeId{1}).group->counter);
    if (!world.fail(NodeId{2})) world.restart(NodeId{2});
  }
  BOOST_TEST(!seen.wrong);
  BOOST_TEST(world.verify().holds());
}

BOOST_AUTO_TEST_CASE(a_permit_is_awaited_until_there_is_a_group_on_real_nodes) {
  Seen seen;
  Cluster cluster({.nodes = 1, .application = make<Permitted>(seen)});
  for (int life = 1; life <= 2; ++life) {
    const GroupNumber group = cluster.join(1);
    cluster.await("the work", [&] { return seen.worked == group.counter; });
    cluster.kill(1);
    BOOST_TEST(seen.suspended == 0);
    BOOST_TEST(seen.applications == 0);
  }
  BOOST_TEST(!seen.wrong);
  BOOST_TEST(!seen.outlived);
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(one_that_throws_what_is_no_exception_fails_too) {
  Seen seen;
  lab::World world(1, 1, make<ThrowingNumbers>(seen));
  BOOST_TEST(!world.run_until([&] { return world.is_normal(); }, 1s));
  BOOST_TEST(world.journal().find("it threw something that is no std::exception") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(functions_left_out)

BOOST_AUTO_TEST_CASE(nothing_is_reported_and_nothing_defined) {
  int reorganized = 0;
  int started = 0;
  const auto reorganize = [&](const Reorganization& all) {
    for (const Member& member : all.members) BOOST_TEST(member.holdings.report.data.empty());
    ++reorganized;
    return Definition();
  };
  const auto start = [&](const Assignment& task) {
    BOOST_TEST(task.definition.data.empty());
    ++started;
  };
  for (const MakeApplication& application : std::initializer_list<MakeApplication>{
           [&](Services&) { return make_application(Functions{.reorganize = reorganize}); },
           [&](Services&) { return make_application(Functions{.start = start}); },
           [&](Services&) {
             return make_application(AsynchronousFunctions{
                 .start = [&](const Assignment& task, Done<> done) { start(task), done(); }});
           },
           [](Services&) { return make_application(AsynchronousFunctions{}); }}) {
    lab::World world(2, 1, application);
    BOOST_REQUIRE(world.run_until_normal());
    BOOST_TEST(world.fail(NodeId{2}));
    BOOST_REQUIRE(world.run_until_normal());
    BOOST_TEST(world.verify().holds());
  }
  BOOST_TEST(reorganized >= 2);
  BOOST_TEST(started >= 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
