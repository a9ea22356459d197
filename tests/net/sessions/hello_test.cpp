#include "world.hpp"

// Who may say Hello, and which connection stays.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(hello)

BOOST_AUTO_TEST_CASE(dials_that_cross_leave_one_connection_and_lose_nothing) {
  for (int round = 0; round < 200; ++round) {
    TwoNodes net;
    net.one.ask(2);
    net.world.context.restart();
    for (int turn = 0; turn < round % 20; ++turn) net.world.context.poll_one();
    net.two.ask(1);
    net.one.ask(2);
    UNTIL(net.world, net.one.log.size() == 3 && net.two.log.size() == 3);
    BOOST_TEST(net.one.entries("answer").size() == 2u);
    BOOST_TEST(net.two.entries("answer").size() == 1u);
    for (const TestNode* node : {&net.one, &net.two}) {
      BOOST_TEST(node->sessions.counters().sessions == 1u);
      BOOST_TEST(node->sessions.counters().duplicates == 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_hello_whose_connection_has_ended_changes_nothing) {
  World world;
  Port first, second, third;
  Listening two(world, 2, addresses({&first, &second, &third}));
  Outsider present(world, second);
  present.say(hello_of(3, 2, 1, 4711, 1));
  BOOST_TEST(taken(present));
  {
    Outsider gone(world, second);
    gone.say(hello_of(3, 2, 1, 4711, 2));
  }
  UNTIL(world, two.sessions.counters().accepted == 2);
  world.settle();
  BOOST_TEST(!present.closed());
  two.ask(3);
  BOOST_TEST(present.hear().has_value());
}

// --- Wire versions: of today, and of one who speaks the next one too

constexpr net::WireVersions today{2, 2};
constexpr net::WireVersions both{2, 3};

BOOST_AUTO_TEST_CASE(who_has_agreed_on_one_version_and_speaks_another_is_closed) {
  for (const auto& [wire, spoken] : {std::pair(today, 2), std::pair(both, 3)}) {
    for (std::uint8_t version = 2; version < 4; ++version) {
      World world;
      Port first, second, third;
      Listening one(world, 1, addresses({&first, &second, &third}), {.wire = both});
      Outsider three(world, first);
      net::Hello hello = hello_of(3, 1);
      hello.newest_version = wire.newest;
      three.say(hello);
      BOOST_TEST(taken(three));
      three.say(net::Acknowledged{0}, version);
      const std::size_t said =
          net::encode_frame(hello).size() + net::encode_frame(net::Acknowledged{0}).size();
      UNTIL(world, one.sessions.counters().bytes_in == said);
      BOOST_TEST(one.sessions.counters().garbage == (version == spoken ? 0u : 1u));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
