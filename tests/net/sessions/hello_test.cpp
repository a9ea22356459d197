#include "world.hpp"

// Who may say Hello, and which connection stays.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(hello)

BOOST_AUTO_TEST_CASE(dials_that_cross_leave_one_connection_and_lose_nothing) {
  for (int round = 0; round < 200; ++round) {
    World world;
    Port first, second;
    TestNode one(world, 1, addresses({&first, &second}));
    TestNode two(world, 2, addresses({&first, &second}));
    BOOST_REQUIRE(one.sessions.listen().has_value() && two.sessions.listen().has_value());
    one.ask(2);
    world.context.restart();
    for (int turn = 0; turn < round % 20; ++turn) world.context.poll_one();
    two.ask(1);
    one.ask(2);
    UNTIL(world, one.log.size() == 3 && two.log.size() == 3);
    BOOST_TEST(one.entries("answer").size() == 2u);
    BOOST_TEST(two.entries("answer").size() == 1u);
    BOOST_TEST(one.sessions.counters().sessions == 1u);
    BOOST_TEST(two.sessions.counters().sessions == 1u);
    BOOST_TEST(one.sessions.counters().duplicates + two.sessions.counters().duplicates == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_hello_whose_connection_has_ended_changes_nothing) {
  Three net;
  Outsider present(net.world, net.second);
  present.say(hello_of(3, 2, 1, 4711, 1));
  BOOST_TEST(taken(present));
  {
    Outsider gone(net.world, net.second);
    gone.say(hello_of(3, 2, 1, 4711, 2));
  }
  UNTIL(net.world, net.two.sessions.counters().accepted == 2);
  net.world.settle();
  BOOST_TEST(!present.closed());
  net.two.ask(3);
  BOOST_TEST(present.hear().has_value());
}

BOOST_AUTO_TEST_CASE(an_observer_may_ask_for_the_status_and_for_nothing_else) {
  Three net;
  net::Hello hello = hello_of(0, 0, 0, 0, 0);
  hello.role = net::Role::observer;
  Outsider observer(net.world, net.second);
  observer.say(hello);
  BOOST_TEST(taken(observer));
  for (int i = 0; i < 3; ++i) {
    observer.say(net::StatusQuestion{});
    const auto answer = observer.hear();
    BOOST_REQUIRE(answer && std::holds_alternative<net::StatusAnswer>(*answer));
    BOOST_TEST(std::get<net::StatusAnswer>(*answer).json == "{\"node\":2}");
  }
  observer.say(
      net::Carried{1, 0, {NodeId{3}, Incarnation{1}, NodeId{2}, CallNumber{1}, AreYouThere{}}});
  BOOST_TEST(!observer.hear().has_value());
  BOOST_TEST(net.two.log.empty());
}

BOOST_AUTO_TEST_SUITE_END()
