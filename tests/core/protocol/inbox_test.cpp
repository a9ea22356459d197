#include <muster/host/inbox.hpp>

#include <boost/test/unit_test.hpp>

using namespace muster;
using namespace std::chrono_literals;

namespace {

constexpr NodeId other{2};

/// A life that began at 0 s. In these tests an event that waits for more than 1 s is a pause of the
/// node.
struct Begun {
  Inbox inbox{1s};

  Begun() {
    inbox.begin({}, 0s);
    BOOST_REQUIRE(std::holds_alternative<Recovered>(inbox.next(0s).value()));
    inbox.performed();
  }

  void put(CallNumber call, Duration at) { inbox.put(Unanswered{other, call}, at); }

  /// The next event as a short text, without the details that do not matter here.
  std::string next(Duration now) {
    const auto event = inbox.next(now);
    if (!event) return "nothing";
    if (const auto* paused = std::get_if<Paused>(&*event))
      return "Paused for " + std::to_string(paused->gap / 1ms) + " ms";
    if (std::holds_alternative<Expired>(*event)) return "Expired";
    return "call " + std::to_string(std::get<Unanswered>(*event).call.value);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(inbox)

BOOST_AUTO_TEST_CASE(a_life_begins_with_recovered_and_nothing_has_waited_before_it) {
  Inbox inbox(1s);
  inbox.put(Leaving{}, 0s);
  inbox.on_pause(5s);
  inbox.begin({}, 10s);
  BOOST_TEST(std::holds_alternative<Recovered>(inbox.next(10s).value()));
  BOOST_TEST(!inbox.pauses());
  BOOST_TEST(std::holds_alternative<Leaving>(inbox.next(11s).value()));
  BOOST_TEST(!inbox.next(12s).has_value());
}

BOOST_FIXTURE_TEST_CASE(events_come_in_their_order, Begun) {
  put({1}, 0s);
  put({2}, 0s);
  BOOST_TEST(next(1s) == "call 1");
  BOOST_TEST(next(1s) == "call 2");
  BOOST_TEST(next(1s) == "nothing");
}

BOOST_FIXTURE_TEST_CASE(an_expiry_means_nothing_once_its_timer_is_armed_anew, Begun) {
  const auto first = inbox.arm(Timer::check);
  inbox.expire(Timer::check, first, 0s);
  const auto second = inbox.arm(Timer::check);
  BOOST_TEST(next(0s) == "nothing");
  inbox.expire(Timer::check, second, 0s);
  BOOST_TEST(next(0s) == "Expired");
}

BOOST_FIXTURE_TEST_CASE(an_expiry_means_nothing_once_its_timer_is_disarmed, Begun) {
  const auto arming = inbox.arm(Timer::check);
  const auto other_timer = inbox.arm(Timer::coordinator);
  inbox.expire(Timer::check, arming, 0s);
  inbox.expire(Timer::coordinator, other_timer, 0s);
  inbox.disarm(Timer::check);
  BOOST_TEST(next(0s) == "Expired");
  BOOST_TEST(next(0s) == "nothing");
}

// Assumption 9: nodes do not pause. A node that paused has failed, and it must learn this before
// any other event.
BOOST_FIXTURE_TEST_CASE(what_waited_for_too_long_is_preceded_by_one_pause_for_all, Begun) {
  put({1}, 0s);
  put({2}, 1s);
  put({3}, 2s);
  BOOST_TEST(!inbox.is_late(1s));
  BOOST_TEST(inbox.is_late(3s));
  BOOST_TEST(next(3s) == "Paused for 3000 ms");
  BOOST_TEST(!inbox.is_late(3s));
  BOOST_TEST(next(3s) == "call 1");
  BOOST_TEST(next(4s) == "call 2");
  BOOST_TEST(next(4001ms) == "Paused for 1001 ms");
  BOOST_TEST(next(4001ms) == "call 3");
}

BOOST_FIXTURE_TEST_CASE(what_waited_for_just_as_long_as_it_may_is_no_pause, Begun) {
  put({1}, 0s);
  BOOST_TEST(next(1s) == "call 1");
}

BOOST_FIXTURE_TEST_CASE(a_void_expiry_has_not_waited, Begun) {
  inbox.expire(Timer::check, inbox.arm(Timer::check), 0s);
  inbox.disarm(Timer::check);
  put({1}, 4s);
  BOOST_TEST(next(5s) == "call 1");
}

BOOST_FIXTURE_TEST_CASE(a_host_that_was_paused_says_so_though_nothing_waits, Begun) {
  inbox.on_pause(2s);
  inbox.on_pause(3s);
  inbox.on_pause(1s);
  BOOST_TEST(next(6s) == "Paused for 3000 ms");
  BOOST_TEST(next(6s) == "nothing");
}

BOOST_FIXTURE_TEST_CASE(it_pauses_until_all_that_the_pause_led_to_was_performed, Begun) {
  inbox.on_pause(2s);
  BOOST_TEST(inbox.pauses());
  next(2s);
  BOOST_TEST(inbox.pauses());
  inbox.performed();
  BOOST_TEST(!inbox.pauses());
}

// If a waiting call has the same number as an answer, the caller's next life has chosen that number
// again.
BOOST_FIXTURE_TEST_CASE(it_knows_the_calls_that_wait_and_takes_no_answer_for_one, Begun) {
  inbox.put(Received{{other, {1}, {1}, {7}, AreYouThere{}}}, 0s);
  inbox.put(Received{{other, {1}, {1}, {8}, Answer{Here{}}}}, 0s);
  BOOST_TEST(inbox.has_call(other, {7}));
  BOOST_TEST(!inbox.has_call(other, {8}));
  BOOST_TEST(!inbox.has_call(NodeId{3}, {7}));
  (void)inbox.next(0s);
  BOOST_TEST(!inbox.has_call(other, {7}));
}

BOOST_AUTO_TEST_SUITE_END()
