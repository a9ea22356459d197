#include <base/clock.hpp>
#include <node/permits.hpp>

#include <muster/net/permits.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

/// How threads, coroutines and callbacks wait for permits, tested without a node.

using namespace muster;
using net::boottime_now;
using net::LifePermits;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(permits_that_are_waited_for)

namespace {

constexpr GroupNumber first{1, NodeId{3}};
constexpr GroupNumber second{2, NodeId{3}};

namespace asio = boost::asio;
constexpr auto canceled = boost::system::errc::operation_canceled;

asio::awaitable<GroupNumber> work_once(const Permits& permits) {
  const Permit permit = co_await permits.acquire("waited for");
  co_return permit.group();
}

/// Two executors: the executor of a node's hooks, and one of another library.
struct Waiting {
  void turn() {
    hooks.restart();
    others.restart();
    while (hooks.poll() + others.poll() > 0) {
    }
  }
  void give(GroupNumber group) {
    permits.grant(group);
    permits.announce(permits.grants());
  }
  [[nodiscard]] Acquisition acquire() const { return permits.door().acquire("waited for"); }
  /// The group of the permit that a coroutine gets.
  std::future<GroupNumber> await() {
    return asio::co_spawn(others, work_once(permits.door()), asio::use_future);
  }

  asio::io_context hooks;
  asio::io_context others;
  asio::any_io_executor strand = asio::make_strand(asio::any_io_executor(hooks.get_executor()));
  LifePermits permits{1h, strand};
};

bool is_aborted(const boost::system::system_error& thrown) {
  return thrown.code() == asio::error::operation_aborted;
}

/// Waits on a thread of its own without success, and returns the reason.
std::future<boost::system::error_code> why_in_vain(const Acquisition& acquisition,
                                                   const std::stop_token& cancelled = {}) {
  return std::async(std::launch::async, [=] {
    try {
      (void)acquisition.wait(cancelled);
      return boost::system::error_code();
    } catch (const boost::system::system_error& error) {
      return error.code();
    }
  });
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_thread_waits_until_there_is_a_group, Waiting) {
  auto worked = std::async(std::launch::async, [&] { return acquire().wait().group(); });
  give(first);
  BOOST_TEST(worked.get() == first);
}

BOOST_FIXTURE_TEST_CASE(a_thread_that_waits_is_told_of_the_end_of_the_life, Waiting) {
  auto ended = why_in_vain(acquire());
  permits.close();
  BOOST_TEST(ended.get() == canceled);
  BOOST_CHECK_THROW((void)acquire().wait(), boost::system::system_error);
}

BOOST_FIXTURE_TEST_CASE(a_thread_that_waits_can_be_cancelled, Waiting) {
  std::stop_source stop;
  auto ended = why_in_vain(acquire(), stop.get_token());
  stop.request_stop();
  BOOST_TEST(ended.get() == canceled);
}

// If the application's executor waited, the hook that leads to the permit could not run.
BOOST_FIXTURE_TEST_CASE(the_executor_of_the_application_is_refused_to_wait, Waiting) {
  asio::post(strand, [&] { BOOST_CHECK_THROW((void)acquire().wait(), std::logic_error); });
  BOOST_TEST(hooks.poll() > 0u);
}

BOOST_FIXTURE_TEST_CASE(a_callback_is_called_on_the_executor_of_the_application, Waiting) {
  std::vector<GroupNumber> given;
  acquire().then([&](const Permit& permit) { given.push_back(permit.group()); });
  turn();
  BOOST_TEST(given.empty());
  give(first);
  BOOST_TEST(given.empty());
  turn();
  BOOST_TEST(given == std::vector{first});
  BOOST_TEST(permits.out().empty());
}

BOOST_FIXTURE_TEST_CASE(work_that_waits_comes_after_start, Waiting) {
  bool given = false;
  acquire().then([&](const Permit&) { given = true; });
  permits.grant(first);
  turn();
  BOOST_TEST(!given);
  permits.announce(permits.grants());
  turn();
  BOOST_TEST(given);
}

// The permit is revoked before the executor runs the callback.
BOOST_FIXTURE_TEST_CASE(who_comes_too_late_waits_for_the_next_group, Waiting) {
  std::vector<GroupNumber> given;
  acquire().then([&](const Permit& permit) { given.push_back(permit.group()); });
  auto worked = await();
  turn();
  give(first);
  permits.revoke([] {});
  turn();
  BOOST_TEST(given.empty());
  give(second);
  turn();
  BOOST_TEST(given == std::vector{second});
  BOOST_TEST(worked.get() == second);
}

BOOST_FIXTURE_TEST_CASE(nothing_is_called_when_the_life_is_over, Waiting) {
  bool given = false;
  acquire().then([&](const Permit&) { given = true; });
  give(first);
  permits.close();
  acquire().then([&](const Permit&) { given = true; });
  turn();
  BOOST_TEST(!given);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_of_any_executor_awaits_it, Waiting) {
  auto worked = await();
  turn();
  give(first);
  turn();
  BOOST_TEST(worked.get() == first);
  auto again = await();
  turn();
  BOOST_TEST(again.get() == first);
  BOOST_TEST(permits.out().empty());
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_that_awaits_it_keeps_its_context_at_work, Waiting) {
  auto worked = await();
  const std::jthread thread([&] { others.run(); });
  give(first);
  BOOST_TEST(worked.get() == first);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_is_told_of_the_end_of_the_life, Waiting) {
  auto ended = await();
  turn();
  permits.close();
  turn();
  BOOST_CHECK_EXCEPTION(ended.get(), boost::system::system_error, is_aborted);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_that_awaits_it_can_be_cancelled, Waiting) {
  asio::cancellation_signal cancel;
  auto ended = asio::co_spawn(others, work_once(permits.door()),
                              asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
  turn();
  cancel.emit(asio::cancellation_type::terminal);
  turn();
  BOOST_CHECK_EXCEPTION(ended.get(), boost::system::system_error, is_aborted);
  give(first);
  turn();
  BOOST_TEST(permits.out().empty());
}

BOOST_FIXTURE_TEST_CASE(any_completion_token_will_do, Waiting) {
  auto future = acquire()(asio::use_future);
  give(first);
  turn();
  BOOST_TEST(future.get().group() == first);
}

// A pause has ended. During the pause no permit could be given, although the group's permits were
// never revoked.
BOOST_AUTO_TEST_CASE(work_that_waits_in_a_pause_is_told_of_its_end) {
  asio::io_context hooks;
  LifePermits permits(50ms, hooks.get_executor());
  permits.turned(boottime_now() - 51ms);
  permits.grant(first);
  permits.announce(permits.grants());
  bool given = false;
  permits.door().acquire().then([&](const Permit&) { given = true; });
  hooks.poll();
  BOOST_TEST(!given);
  permits.turned(boottime_now() + 1h);
  hooks.restart();
  hooks.poll();
  BOOST_TEST(given);
}

BOOST_AUTO_TEST_SUITE_END()
