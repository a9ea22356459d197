#include <clock.hpp>
#include <permits.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>
#include <vector>

/// Permits, without a node: granted for a group, revoked at once, counted until the last is back.

using namespace muster;
using net::boottime_now;
using net::Permits;
using namespace std::chrono_literals;

namespace {

constexpr GroupNumber first{1, NodeId{3}};
constexpr GroupNumber second{2, NodeId{3}};

}  // namespace

BOOST_AUTO_TEST_SUITE(permits)

BOOST_AUTO_TEST_CASE(there_are_none_before_a_group_is_granted) {
  Permits permits(1h);
  BOOST_TEST(!permits.acquire().has_value());
  BOOST_TEST(!permits.revoke([] { BOOST_ERROR("nothing was out"); }).has_value());
}

BOOST_AUTO_TEST_CASE(one_is_of_the_present_group_and_valid) {
  Permits permits(1h);
  permits.grant(first);
  const auto permit = permits.acquire();
  BOOST_TEST_REQUIRE(permit.has_value());
  BOOST_TEST((permit->group() == first));
  BOOST_TEST(permit->valid());
}

BOOST_AUTO_TEST_CASE(a_revoked_one_is_not_valid_though_it_is_still_held) {
  Permits permits(1h);
  permits.grant(first);
  bool returned = false;
  const auto permit = permits.acquire();
  const auto group = permits.revoke([&] { returned = true; });
  BOOST_TEST((group == first));
  BOOST_TEST(!permit->valid());
  BOOST_TEST(!returned);
  BOOST_TEST(!permits.acquire().has_value());
}

BOOST_AUTO_TEST_CASE(the_last_that_comes_back_tells_so_once) {
  Permits permits(1h);
  permits.grant(first);
  auto one = permits.acquire();
  auto two = permits.acquire();
  auto moved = std::move(*two);
  two.reset();
  int returned = 0;
  permits.revoke([&] { ++returned; });
  one.reset();
  BOOST_TEST(returned == 0);
  { const Permit last = std::move(moved); }
  BOOST_TEST(returned == 1);
}

BOOST_AUTO_TEST_CASE(where_none_is_out_they_are_back_at_once) {
  Permits permits(1h);
  permits.grant(first);
  permits.acquire();
  int returned = 0;
  permits.revoke([&] { ++returned; });
  BOOST_TEST(returned == 1);
}

BOOST_AUTO_TEST_CASE(one_of_an_old_group_is_not_valid_in_the_next) {
  Permits permits(1h);
  permits.grant(first);
  const auto old = permits.acquire();
  permits.revoke([] {});
  permits.grant(second);
  const auto present = permits.acquire();
  BOOST_TEST(!old->valid());
  BOOST_TEST(present->valid());
  BOOST_TEST((present->group() == second));
}

BOOST_AUTO_TEST_CASE(one_may_outlive_the_permits_of_its_life) {
  std::optional<Permit> permit;
  int returned = 0;
  {
    Permits permits(1h);
    permits.grant(first);
    permit = permits.acquire();
    permits.revoke([&] { ++returned; });
  }
  BOOST_TEST(!permit->valid());
  permit.reset();
  BOOST_TEST(returned == 1);
}

// Nobody has to be told of a pause first: the clock is asked each time.
BOOST_AUTO_TEST_CASE(none_is_valid_when_the_loop_has_not_turned_for_too_long) {
  Permits permits(50ms);
  permits.turned(boottime_now() + 1h);  // a loop that turns
  permits.grant(first);
  const auto permit = permits.acquire();
  BOOST_TEST(permit->valid());
  permits.turned(boottime_now() - 51ms);
  BOOST_TEST(!permit->valid());
  BOOST_TEST(!permits.acquire().has_value());
  permits.turned(boottime_now() + 1h);
  BOOST_TEST(permit->valid());
}

// A permit that is given while the last is counted would be one of which STOP does not know.
BOOST_AUTO_TEST_CASE(none_is_out_when_the_last_is_said_to_be_back_whoever_asks_meanwhile) {
  for (int round = 0; round < 200; ++round) {
    Permits permits(1h);
    permits.grant(first);
    std::atomic<int> out = 0;
    std::atomic<int> told = 0;
    std::atomic<bool> wrong = false;
    std::atomic<bool> revoked = false;
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 3; ++worker)
      workers.emplace_back([&] {
        while (!revoked)
          if (auto permit = permits.acquire()) {
            ++out;
            --out;  // before it is back
          }
      });
    permits.revoke([&] {
      if (out != 0) wrong = true;
      ++told;
    });
    revoked = true;
    for (std::thread& worker : workers) worker.join();
    BOOST_CHECK(!wrong);
    BOOST_CHECK_EQUAL(told.load(), 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
