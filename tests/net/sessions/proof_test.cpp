#include "child.hpp"
#include "socket_world.hpp"

// Events that prove the end of a life, their effects in order, and events that prove nothing.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(proof)

namespace {

/// Node 1, and a port for node 2, at which the test decides what listens.
struct OneOfTwo {
  SocketWorld world;
  Port first, second;
  Listening one{world, 1, addresses({&first, &second})};
  /// Connects as node 2 in that life: sends its Hello, and reads the answer of node 1.
  void greet(Outsider& two, std::uint64_t life, std::uint64_t instance) {
    two.dial(first);
    two.say(hello_of({.from = 2, .to = 1, .life = life, .instance = instance}));
    BOOST_REQUIRE(taken(two));
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(kill_is_proven) {
  for (int i = 0; i < 10; ++i) {
    Port first, second;
    // The child is forked first, since it must not inherit later objects. The child answers until
    // it is killed.
    test::Child two([&](int) {
      SocketWorld world;
      TestNode node(world, 2, addresses({&first, &second}));
      if (!node.sessions.listen()) return 75;
      world.context.run();
      return 0;
    });
    SocketWorld world;
    Listening one(world, 1, addresses({&first, &second}));
    while (one.entries("answer").empty()) {  // until it listens
      one.log.clear();
      one.ask(2);
      UNTIL(world, !one.log.empty());
    }
    one.log.clear();
    two.pause();
    const auto to_node = one.ask(2);
    const auto to_life = one.announce(2, 1);
    world.settle();
    two.kill();
    UNTIL(world, one.log.size() == 3);
    BOOST_TEST(one.log[0] == TestNode::failed(2, 1));
    BOOST_TEST(one.has(TestNode::unanswered(2, to_node)));
    BOOST_TEST(one.has(TestNode::unanswered(2, to_life)));
    BOOST_TEST(one.sessions.lives().empty());
  }
}

BOOST_FIXTURE_TEST_CASE(who_accepts_and_resets_is_neither_alive_nor_proven_dead, OneOfTwo) {
  Listening two(world, 2, addresses({&first, &second}));
  const auto first_call = one.ask(2);
  UNTIL(world, one.has(TestNode::answered(2, first_call)));
  one.log.clear();

  two.sessions.close();
  std::optional<Door> dying(std::in_place, world, second);
  const auto call = one.ask(2);
  for (int resets = 0; resets < 8; ++resets) {
    dying->next().reset();
    world.settle();
    BOOST_TEST(one.log.empty());
  }
  dying.reset();
  UNTIL(world, one.log.size() == 2);
  BOOST_TEST(one.log[0] == TestNode::failed(2, 1));
  BOOST_TEST(one.log[1] == TestNode::unanswered(2, call));
}

BOOST_FIXTURE_TEST_CASE(what_a_life_said_comes_before_its_end_and_its_calls_after, OneOfTwo) {
  Outsider two(world);
  greet(two, 1, 4711);
  const auto to_node = one.ask(2);
  const auto to_life = one.announce(2, 1);
  two.say(carried({.from = 2, .to = 1, .number = 1, .call = 1}));
  two.say(carried({.from = 2, .to = 1, .number = 2, .call = to_node, .message = Answer{Here{}}}));
  two.say(net::encode_frame(carried({.from = 2, .to = 1, .number = 3, .call = 2})).substr(0, 20));
  two.reset();
  UNTIL(world, one.log.size() == 4);
  BOOST_TEST(one.log == (test::Words{TestNode::called(2, 1), TestNode::answered(2, to_node),
                                     TestNode::failed(2, 1), TestNode::unanswered(2, to_life)}));
}

BOOST_AUTO_TEST_SUITE_END()
