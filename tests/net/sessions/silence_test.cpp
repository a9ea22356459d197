#include "socket_world.hpp"

// The effects of silence, and the effects that silence must not have.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(silence)

namespace {

struct WithOutsider {
  SocketWorld world;
  Port first, second, third;
  Listening one;
  Outsider two{world};
  explicit WithOutsider(Setting setting = {})
      : one(world, 1, addresses({&first, &second, &third}), std::move(setting)) {}
  void greet() {
    two.dial(first);
    two.say(hello_of({.from = 2, .to = 1}));
    BOOST_REQUIRE(taken(two));
  }
};

void wait_out(Duration duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_answer_that_can_be_read_when_the_bound_has_passed_is_an_answer) {
  WithOutsider net;
  net.greet();
  for (std::uint64_t number = 1; number <= 50; ++number) {
    const auto call = net.one.ask(2, 2ms);
    net.two.say(
        carried({.from = 2, .to = 1, .number = number, .call = call, .message = Answer{Here{}}}));
    wait_out(3ms);  // as in a slow process: the answer has arrived, but the bound has passed too
    UNTIL(net.world, net.one.log.size() == number);
    BOOST_TEST(net.one.log.back() == TestNode::answered(2, call));
  }
}

BOOST_AUTO_TEST_CASE(who_does_not_read_grows_no_memory_and_blocks_nobody) {
  WithOutsider net({.limits = {.queue_bytes = 512 * 1024}});
  net.greet();
  const Listening three(net.world, 3, addresses({&net.first, &net.second, &net.third}));
  const Ready large{{}, Incarnation{1}, {}, {std::string(32 * 1024, 'd')}};
  for (int i = 0; i < 400; ++i) {
    net.one.call(2, large, 60s);
    net.world.settle();
  }
  BOOST_TEST(net.one.sessions.counters().dropped > 0u);
  BOOST_TEST(!net.one.warnings.empty());
  const auto call = net.one.ask(3);
  UNTIL(net.world, net.one.has(TestNode::answered(3, call)));
  BOOST_TEST(net.one.log.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
