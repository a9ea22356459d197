#include "stage.hpp"

#include <node/hooks.hpp>
#include <node/services.hpp>

#include <muster/host/hook_runner.hpp>
#include <muster/storage/memory_storage.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/text.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <thread>

/// The hooks of one life, without a node. The two contexts run only when a test runs them.

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;
using journal::Edge;
using net::Hooks;

namespace {

constexpr NodeId self{1};
constexpr GroupNumber group{7, self};

/// The encoded task of a group that contains only this node, with that definition.
Definition task(std::string definition) {
  return {encode(Task{{self}, {std::move(definition)}, {}})};
}

struct Fixture {
  explicit Fixture(Timings timings = {}) {
    net::NodeServices::Handlers of_services;
    of_services.fatal = [](const Failure&) { BOOST_ERROR("storage failed"); };
    const auto services = std::make_shared<net::NodeServices>(
        self, NodeSet{self}, user->get_executor(), permits, storage_thread, of_services);
    Hooks::Handlers handlers;
    handlers.event = [this](const Event& event) { told.push_back(to_text(event)); };
    handlers.edge = [this](Hook hook, Edge edge, std::optional<GroupNumber> about, Ticket ticket,
                           const Members*) {
      told.push_back(to_text(hook) + ' ' + to_text(edge) + ' ' + to_text(about) + " #" +
                     to_text(ticket));
    };
    handlers.permits = [this](journal::PermitsEdge edge, GroupNumber about) {
      told.push_back("permits " + to_text(edge) + ' ' + to_text(about));
    };
    handlers.fatal = [this](HookFault, const std::string& why) { told.push_back("fatal: " + why); };
    hooks = std::make_shared<Hooks>(
        strand->get_executor(), user->get_executor(), services,
        [this](Services& given) { return make(given); }, permits, handlers);
    runner.emplace(*hooks, self, HookRunner::Limits{timings, 16, 16}, std::nullopt);
  }

  /// Runs all work that is ready now in both contexts.
  void turn() {
    do {
      strand->restart();
      user->restart();
    } while (strand->poll() + user->poll() > 0);
  }
  /// Runs both contexts until the last recorded event begins with `begin`.
  void turn_until(const std::string& begin) {
    const auto deadline = std::chrono::steady_clock::now() + Bell::generous;
    while (told.empty() || !told.back().starts_with(begin)) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < deadline);
      turn();
      std::this_thread::yield();
    }
  }
  std::vector<std::string> heard() {
    turn();
    return std::exchange(told, {});
  }
  void expect(const std::vector<std::string>& lines) {
    BOOST_TEST(heard() == lines, boost::test_tools::per_element());
  }

  void stop(std::uint64_t ticket, bool owed = true) {
    runner->perform(Stop{Ticket{ticket}, {StopReason::own_election, {}}, owed});
  }
  void start(std::uint64_t ticket) { runner->perform(Start{Ticket{ticket}, task("d"), group}); }
  void reorganize(std::uint64_t ticket) {
    runner->perform(Reorganize{Ticket{ticket}, group, {Member{self, {}, {}}}});
  }
  void abandon() {
    runner->abandon();
    hooks->abandon();
  }
  /// A life that has begun. Its first `stop` is over.
  void begin() {
    stop(1);
    expect({"stop begin none #1", "stop end none #1",
            "Stopped{ticket: 1, report: " + to_text(usual_report(self)) + "}"});
  }
  Cue take(Hook hook) {
    turn();
    return stage.take(self, hook);
  }
  /// Begins such a life and calls the hook. The hook ends only when the test ends it.
  Cue begin_and_hold(Hook hook) {
    begin();
    stage.hold(self, hook);
    hook == Hook::start ? start(2) : reorganize(2);
    return take(hook);
  }

  Bell bell;
  Stage stage{bell};
  std::vector<std::string> told;
  std::unique_ptr<boost::asio::io_context> strand = std::make_unique<boost::asio::io_context>();
  std::unique_ptr<boost::asio::io_context> user = std::make_unique<boost::asio::io_context>();
  std::shared_ptr<net::LifePermits> permits =
      std::make_shared<net::LifePermits>(1h, user->get_executor());
  storage::MemoryStorage storage;
  net::StorageThread storage_thread{storage};
  MakeApplication make = stage.make(self);
  std::shared_ptr<Hooks> hooks;
  std::optional<HookRunner> runner;
};

Timings short_deadlines() {
  Timings timings;
  timings.stop_deadline = timings.start_deadline = timings.reorganize_deadline = 500ms;
  return timings;
}

/// A fixture with short deadlines.
struct Hurried : Fixture {
  Hurried() : Fixture(short_deadlines()) {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hooks)

BOOST_FIXTURE_TEST_CASE(a_life_begins_with_one_stop_and_each_start_is_followed_by_one, Fixture) {
  begin();
  start(2);
  expect({"start begin 7.1 #2", "start end 7.1 #2", "Started{ticket: 2}"});
  stop(3);
  expect({"permits revoked 7.1", "stop begin 7.1 #3", "permits returned 7.1", "stop end 7.1 #3",
          "Stopped{ticket: 3, report: " + to_text(usual_report(self)) + "}"});
  BOOST_TEST(stage.calls(self).at(2).group == group);
}

BOOST_FIXTURE_TEST_CASE(nothing_is_told_before_the_hook_ends, Fixture) {
  begin();
  stage.hold(self, Hook::start);
  start(2);
  expect({"start begin 7.1 #2"});
  Cue cue = take(Hook::start);
  expect({});
  cue.complete();
  expect({"start end 7.1 #2", "Started{ticket: 2}"});
}

BOOST_FIXTURE_TEST_CASE(a_done_may_be_completed_on_another_thread, Fixture) {
  Cue cue = begin_and_hold(Hook::reorganize);
  std::thread([&] { cue.complete(Bytes{"plan"}); }).join();
  expect({"reorganize begin 7.1 #2", "reorganize end 7.1 #2",
          "Reorganized{ticket: 2, definition: " + to_text(task("plan")) + "}"});
}

BOOST_FIXTURE_TEST_CASE(permits_are_given_from_the_beginning_of_start, Fixture) {
  begin();
  BOOST_TEST(!permits->door().try_acquire().has_value());
  stage.hold(self, Hook::start);
  start(2);
  BOOST_TEST(permits->door().try_acquire().has_value());
}

BOOST_FIXTURE_TEST_CASE(stop_is_over_when_the_last_permit_is_back, Fixture) {
  begin();
  start(2);
  heard();
  auto permit = permits->door().try_acquire();
  stop(3);
  BOOST_TEST(!permit->valid());
  expect({"permits revoked 7.1", "stop begin 7.1 #3"});
  permit.reset();
  const auto lines = heard();
  BOOST_TEST_REQUIRE(lines.size() == 3u);
  BOOST_TEST(lines[0] == "permits returned 7.1");
  BOOST_TEST(lines[1] == "stop end 7.1 #3");
}

BOOST_FIXTURE_TEST_CASE(stop_waits_for_the_start_that_it_cancels_and_is_called_then, Fixture) {
  Cue cue = begin_and_hold(Hook::start);
  BOOST_TEST(!cue.cancelled.stop_requested());
  stop(3);
  while (!cue.cancelled.stop_requested()) std::this_thread::yield();
  expect({"start begin 7.1 #2", "permits revoked 7.1", "permits returned 7.1"});
  cue.fail("cancelled");
  expect({"start failed 7.1 #2", "stop begin 7.1 #3", "stop end 7.1 #3",
          "Stopped{ticket: 3, report: " + to_text(usual_report(self)) + "}"});
}

// P7: `reorganize` is cancelled, and its result is ignored.
BOOST_FIXTURE_TEST_CASE(a_stop_that_is_not_owed_only_waits_for_the_reorganize, Fixture) {
  Cue cue = begin_and_hold(Hook::reorganize);
  stop(3, false);
  expect({"reorganize begin 7.1 #2"});
  cue.complete(Bytes{"late"});
  expect({"reorganize end 7.1 #2", "Stopped{ticket: 3, report: none}"});
  BOOST_TEST(stage.count(self, Hook::stop) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(hooks_that_fail)

BOOST_FIXTURE_TEST_CASE(one_that_fails_is_told_with_its_reason, Fixture) {
  begin();
  stage.play(self, Hook::reorganize, [](Cue cue) { cue.fail("no quorum of chairs"); });
  reorganize(2);
  expect({"reorganize begin 7.1 #2", "reorganize failed 7.1 #2",
          "HookFailed{ticket: 2, hook: reorganize, why: \"no quorum of chairs\"}"});
}

BOOST_FIXTURE_TEST_CASE(one_that_throws_what_is_no_exception_fails_too, Fixture) {
  begin();
  stage.play(self, Hook::start, [](const Cue&) { throw 42; });
  start(2);
  BOOST_TEST(heard().back().starts_with("HookFailed{ticket: 2, hook: start, why: \"it threw"));
}

BOOST_FIXTURE_TEST_CASE(one_that_throws_after_it_said_that_it_is_done_has_failed, Fixture) {
  begin();
  stage.play(self, Hook::start, [](Cue cue) {
    cue.complete();
    throw std::runtime_error("no more chalk");
  });
  start(2);
  expect({"start begin 7.1 #2", "start failed 7.1 #2",
          "HookFailed{ticket: 2, hook: start, why: \"it threw: no more chalk\"}"});
}

BOOST_FIXTURE_TEST_CASE(a_stop_that_fails_is_fatal, Fixture) {
  stage.play(self, Hook::stop, [](Cue cue) { cue.fail("the door is stuck"); });
  stop(1);
  expect({"stop begin none #1", "stop failed none #1", "fatal: stop failed: the door is stuck"});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(deadlines)

BOOST_FIXTURE_TEST_CASE(a_start_that_overruns_is_cancelled_and_has_failed_though_it_ends, Hurried) {
  Cue cue = begin_and_hold(Hook::start);
  while (!cue.cancelled.stop_requested()) turn();
  BOOST_TEST(told.back() == "start begin 7.1 #2");
  cue.complete();
  turn_until("HookFailed");
  BOOST_TEST(told.back() ==
             "HookFailed{ticket: 2, hook: start, why: \"it overran start_deadline = 500 ms\"}");
}

BOOST_FIXTURE_TEST_CASE(a_permit_that_does_not_come_back_is_fatal, Hurried) {
  begin();
  start(2);
  heard();
  const auto permit = permits->door().try_acquire();
  stop(3);
  turn_until("fatal");
  BOOST_TEST(told.back() ==
             "fatal: a permit overran stop_deadline = 500 ms; still out: one without a name");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(the_end_of_a_life)

BOOST_FIXTURE_TEST_CASE(what_still_comes_is_dropped_and_the_application_ends, Fixture) {
  Cue cue = begin_and_hold(Hook::start);
  const auto permit = permits->door().try_acquire();
  heard();
  abandon();
  BOOST_TEST(!permit->valid());
  BOOST_TEST(stage.applications(self) == 1);
  cue.complete();
  expect({});
  BOOST_TEST(stage.applications(self) == 0);
}

BOOST_FIXTURE_TEST_CASE(its_end_cancels_the_hook_that_runs, Fixture) {
  const Cue cue = begin_and_hold(Hook::start);
  abandon();
  while (!cue.cancelled.stop_requested()) std::this_thread::yield();
}

BOOST_FIXTURE_TEST_CASE(a_done_and_a_permit_may_outlive_everything, Fixture) {
  std::optional<Cue> cue = begin_and_hold(Hook::start);
  std::optional<Permit> permit = permits->door().try_acquire();
  stop(3);
  abandon();
  runner.reset();
  hooks.reset();
  user.reset();
  strand.reset();
  cue->complete();
  permit.reset();
  BOOST_TEST(stage.applications(self) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
