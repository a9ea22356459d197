#include <clock.hpp>
#include <permits.hpp>

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

/// Permits that are waited for, without a node: by threads, coroutines and callbacks.

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

/// An executor as a node has it for hooks, and one that belongs to somebody else.
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

  asio::io_context hooks;
  asio::io_context others;
  LifePermits permits{1h, asio::make_strand(asio::any_io_executor(hooks.get_executor()))};
};

asio::awaitable<GroupNumber> work_once(const Permits& permits) {
  const Permit permit = co_await permits.acquire("waited for");
  co_return permit.group();
}

bool is_aborted(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  }
  return false;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_thread_waits_until_there_is_a_group, Waiting) {
  std::promise<GroupNumber> worked;
  std::thread thread([&] { worked.set_value(acquire().wait().group()); });
  give(first);
  BOOST_TEST((worked.get_future().get() == first));
  thread.join();
}

BOOST_FIXTURE_TEST_CASE(a_thread_that_waits_is_told_of_the_end_of_the_life, Waiting) {
  std::promise<boost::system::error_code> ended;
  std::thread thread([&] {
    try {
      (void)acquire().wait();
    } catch (const boost::system::system_error& error) {
      ended.set_value(error.code());
    }
  });
  permits.close();
  BOOST_TEST((ended.get_future().get() == canceled));
  thread.join();
  BOOST_CHECK_THROW((void)acquire().wait(), boost::system::system_error);
}

BOOST_FIXTURE_TEST_CASE(a_thread_that_waits_can_be_cancelled, Waiting) {
  std::promise<boost::system::error_code> ended;
  std::jthread thread([&](const std::stop_token& cancelled) {
    try {
      (void)acquire().wait(cancelled);
    } catch (const boost::system::system_error& error) {
      ended.set_value(error.code());
    }
  });
  thread.request_stop();
  BOOST_TEST((ended.get_future().get() == canceled));
}

// The hook that would give it could not run meanwhile.
BOOST_AUTO_TEST_CASE(the_executor_of_the_application_is_refused_to_wait) {
  asio::io_context hooks;
  const auto strand = asio::make_strand(asio::any_io_executor(hooks.get_executor()));
  LifePermits permits(1h, strand);
  bool refused = false;
  asio::post(strand, [&] {
    try {
      (void)permits.door().acquire().wait();
    } catch (const std::logic_error&) {
      refused = true;
    }
  });
  hooks.run();
  BOOST_TEST(refused);
}

BOOST_FIXTURE_TEST_CASE(a_callback_is_called_on_the_executor_of_the_application, Waiting) {
  std::vector<GroupNumber> given;
  acquire().then([&](const Permit& permit) { given.push_back(permit.group()); });
  turn();
  BOOST_TEST(given.empty());
  give(first);
  BOOST_TEST(given.empty());
  turn();
  BOOST_TEST((given == std::vector{first}));
  BOOST_TEST(permits.out().empty());
}

BOOST_FIXTURE_TEST_CASE(whoever_waits_comes_after_start, Waiting) {
  bool given = false;
  acquire().then([&](const Permit&) { given = true; });
  permits.grant(first);
  turn();
  BOOST_TEST(!given);
  permits.announce(permits.grants());
  turn();
  BOOST_TEST(given);
}

// What was given is revoked before the executor comes to it.
BOOST_FIXTURE_TEST_CASE(who_comes_too_late_waits_for_the_next_group, Waiting) {
  std::vector<GroupNumber> given;
  acquire().then([&](const Permit& permit) { given.push_back(permit.group()); });
  auto worked = asio::co_spawn(others, work_once(permits.door()), asio::use_future);
  turn();
  give(first);
  permits.revoke([] {});
  turn();
  BOOST_TEST(given.empty());
  give(second);
  turn();
  BOOST_TEST((given == std::vector{second}));
  BOOST_TEST((worked.get() == second));
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
  auto worked = asio::co_spawn(others, work_once(permits.door()), asio::use_future);
  turn();
  give(first);
  turn();
  BOOST_TEST((worked.get() == first));
  auto again = asio::co_spawn(others, work_once(permits.door()), asio::use_future);
  turn();
  BOOST_TEST((again.get() == first));
  BOOST_TEST(permits.out().empty());
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_that_awaits_it_keeps_its_context_at_work, Waiting) {
  auto worked = asio::co_spawn(others, work_once(permits.door()), asio::use_future);
  std::thread thread([&] { others.run(); });
  give(first);
  BOOST_TEST((worked.get() == first));
  thread.join();
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_is_told_of_the_end_of_the_life, Waiting) {
  std::exception_ptr thrown;
  asio::co_spawn(others, work_once(permits.door()),
                 [&](std::exception_ptr what, GroupNumber) { thrown = std::move(what); });
  turn();
  permits.close();
  turn();
  BOOST_TEST(is_aborted(thrown));
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_that_awaits_it_can_be_cancelled, Waiting) {
  std::exception_ptr thrown;
  asio::cancellation_signal cancel;
  auto ended = [&](std::exception_ptr what, GroupNumber) { thrown = std::move(what); };
  asio::co_spawn(others, work_once(permits.door()),
                 asio::bind_cancellation_slot(cancel.slot(), ended));
  turn();
  cancel.emit(asio::cancellation_type::terminal);
  turn();
  BOOST_TEST(is_aborted(thrown));
  give(first);
  turn();
  BOOST_TEST(permits.out().empty());
}

BOOST_FIXTURE_TEST_CASE(any_completion_token_will_do, Waiting) {
  auto future = acquire()(asio::use_future);
  give(first);
  turn();
  BOOST_TEST((future.get().group() == first));
}

// A pause ends: there was a permit all the time, but none could be had.
BOOST_AUTO_TEST_CASE(whoever_waits_in_a_pause_is_told_of_its_end) {
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
