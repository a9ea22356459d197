#include <base/clock.hpp>
#include <node/permits.hpp>

#include <muster/values/ensure.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <vector>

/// Permits without a node. The test grants them for a group and revokes them. They are invalid at
/// once, and counted until the last one is returned.

using namespace muster;
using net::boottime_now;
using net::LifePermits;
using namespace std::chrono_literals;

namespace {

constexpr GroupNumber first{1, NodeId{3}};
constexpr GroupNumber second{2, NodeId{3}};

namespace asio = boost::asio;

/// The application's executor. Nothing is posted to it here.
asio::any_io_executor executor() {
  static asio::io_context context;
  return context.get_executor();
}

struct Granted {
  Granted() { permits.grant(first); }
  LifePermits permits{1h, executor()};
};

/// Runs `work` on three threads until they are joined.
std::vector<std::jthread> three(const std::function<void()>& work) {
  std::vector<std::jthread> workers;
  for (int worker = 0; worker < 3; ++worker) workers.emplace_back(work);
  return workers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(permits)

BOOST_AUTO_TEST_CASE(there_are_none_before_a_group_is_granted) {
  LifePermits permits(1h, executor());
  BOOST_TEST(!permits.door().try_acquire().has_value());
  BOOST_TEST(!permits.revoke([] { BOOST_ERROR("nothing was out"); }).has_value());
}

BOOST_FIXTURE_TEST_CASE(a_revoked_one_is_not_valid_though_it_is_still_held, Granted) {
  bool returned = false;
  const auto permit = permits.door().try_acquire();
  const auto group = permits.revoke([&] { returned = true; });
  BOOST_TEST(group->group == first);
  BOOST_TEST(!permit->valid());
  BOOST_TEST(!returned);
  BOOST_TEST(!permits.door().try_acquire().has_value());
}

BOOST_FIXTURE_TEST_CASE(the_last_that_comes_back_tells_so_once, Granted) {
  auto one = permits.door().try_acquire();
  auto two = permits.door().try_acquire();
  auto moved = std::move(*two);
  two.reset();
  int returned = 0;
  permits.revoke([&] { ++returned; });
  one.reset();
  BOOST_TEST(returned == 0);
  { const Permit last = std::move(moved); }
  BOOST_TEST(returned == 1);
}

BOOST_FIXTURE_TEST_CASE(where_none_is_out_they_are_back_at_once, Granted) {
  (void)permits.door().try_acquire();
  int returned = 0;
  permits.revoke([&] { ++returned; });
  BOOST_TEST(returned == 1);
}

// STOP waits for all permits, so none is left when the next group is granted.
BOOST_FIXTURE_TEST_CASE(a_group_is_not_granted_while_permits_of_the_one_before_are_out, Granted) {
  auto old = permits.door().try_acquire();
  permits.revoke([] {});
  BOOST_CHECK_THROW(permits.grant(second), ImpossibleState);
  old.reset();
  permits.grant(second);
  const auto present = permits.door().try_acquire();
  BOOST_TEST(present->valid());
  BOOST_TEST(present->group() == second);
}

BOOST_AUTO_TEST_CASE(one_may_outlive_the_permits_of_its_life) {
  std::optional<Permit> permit;
  int returned = 0;
  {
    LifePermits permits(1h, executor());
    permits.grant(first);
    permit = permits.door().try_acquire();
    permits.revoke([&] { ++returned; });
  }
  BOOST_TEST(!permit->valid());
  permit.reset();
  BOOST_TEST(returned == 1);
}

BOOST_AUTO_TEST_CASE(one_may_outlive_the_executor_of_its_application) {
  std::optional<Permit> permit;
  asio::io_context context;
  LifePermits permits(1h, asio::make_strand(asio::any_io_executor(context.get_executor())));
  permits.grant(first);
  permit = permits.door().try_acquire();
  BOOST_TEST(permit->valid());
}

// Each check of a permit reads the clock, so the permit is invalid even before the node notices its
// pause.
BOOST_AUTO_TEST_CASE(none_is_valid_when_the_loop_has_not_turned_for_too_long) {
  LifePermits permits(50ms, executor());
  permits.turned(boottime_now() + 1h);  // a loop that turns
  permits.grant(first);
  const auto permit = permits.door().try_acquire();
  BOOST_TEST(permit->valid());
  permits.turned(boottime_now() - 51ms);
  BOOST_TEST(!permit->valid());
  BOOST_TEST(!permits.door().try_acquire().has_value());
  permits.turned(boottime_now() + 1h);
  BOOST_TEST(permit->valid());
}

BOOST_AUTO_TEST_CASE(none_is_valid_beyond_the_right_of_its_node_to_work) {
  LifePermits permits(1h, executor());
  permits.turned(boottime_now(), boottime_now() + 1h);
  permits.grant(first);
  const auto permit = permits.door().try_acquire();
  BOOST_TEST(permit->valid());
  permits.turned(boottime_now(), boottime_now() - 1ns);
  BOOST_TEST(!permit->valid());
  BOOST_TEST(!permits.door().try_acquire().has_value());
  permits.turned(boottime_now());  // without a quorum there is no right that could expire
  BOOST_TEST(permit->valid());
}

BOOST_FIXTURE_TEST_CASE(those_that_are_out_are_known_by_name, Granted) {
  const auto copy = permits.door().try_acquire("copy of shard 7");
  const auto nameless = permits.door().try_acquire();
  auto upload = permits.door().try_acquire("upload");
  const auto another = permits.door().try_acquire("copy of shard 7");
  std::thread([&] { upload.reset(); }).join();
  const PermitsOut expected{{"", 1}, {"copy of shard 7", 2}};
  BOOST_TEST(permits.out() == expected);
}

BOOST_FIXTURE_TEST_CASE(a_stop_is_requested_of_those_who_asked_for_its_token, Granted) {
  {
    const auto permit = permits.door().try_acquire();
    BOOST_TEST(!permits.revoke([] {})->stop.has_value());
    BOOST_TEST(permit->stop_token().stop_requested());  // asked too late
  }
  permits.grant(second);
  const auto permit = permits.door().try_acquire();
  const std::stop_token token = permit->stop_token();
  BOOST_TEST(!token.stop_requested());
  BOOST_TEST((token == permits.door().try_acquire()->stop_token()));
  auto revoked = permits.revoke([] {});
  BOOST_TEST_REQUIRE(revoked->stop.has_value());
  // The host requests the stop on a thread that may run the user's code.
  BOOST_TEST(!token.stop_requested());
  revoked->stop->request_stop();
  BOOST_TEST(token.stop_requested());
}

// If a permit were given while the last one is counted, STOP would not know of it.
BOOST_AUTO_TEST_CASE(none_is_out_when_the_last_is_said_to_be_back_if_others_ask_meanwhile) {
  for (int round = 0; round < 200; ++round) {
    Granted granted;
    std::atomic<int> out = 0;
    std::atomic<int> told = 0;
    std::atomic<bool> wrong = false;
    std::atomic<bool> revoked = false;
    auto workers = three([&] {
      while (!revoked)
        if (auto permit = granted.permits.door().try_acquire()) {
          ++out;
          --out;  // before it is back
        }
    });
    granted.permits.revoke([&] {
      if (out != 0) wrong = true;
      ++told;
    });
    revoked = true;
    workers.clear();
    BOOST_CHECK(!wrong);
    BOOST_CHECK_EQUAL(told.load(), 1);
  }
}

// A thread that has seen revoked permits gets no permit, even if permits of other threads are still
// being counted.
BOOST_AUTO_TEST_CASE(none_is_given_on_any_thread_after_one_was_seen_revoked) {
  for (int round = 0; round < 200; ++round) {
    Granted granted;
    const auto door = granted.permits.door();
    const auto held = door.try_acquire();
    std::atomic<int> given_late = 0;
    std::atomic<bool> revoked = false;
    auto workers = three([&] {
      while (!revoked && held->valid()) (void)door.try_acquire();
      if (door.try_acquire()) ++given_late;
    });
    granted.permits.revoke([] {});
    revoked = true;
    workers.clear();
    BOOST_CHECK_EQUAL(given_late.load(), 0);
  }
}

BOOST_AUTO_TEST_CASE(groups_follow_each_other_while_threads_work) {
  LifePermits permits(1h, executor());
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> present = 0;  // the counter of the group whose permits are valid
  std::atomic<int> wrong = 0;
  auto workers = three([&] {
    while (!over)
      if (const auto permit = permits.door().try_acquire("work"))
        if (permit->group().counter != present) ++wrong;
  });
  for (std::uint64_t group = 1; group <= 500; ++group) {
    std::promise<void> returned;
    present = group;
    permits.grant({group, NodeId{3}});
    permits.announce(permits.grants());
    (void)permits.door().acquire().wait();
    permits.revoke([&] { returned.set_value(); });
    returned.get_future().wait();
    BOOST_TEST(permits.out().empty());
  }
  over = true;
  workers.clear();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
