#include "socket_world.hpp"

// Which Hellos are accepted, and which connection stays.

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
  SocketWorld world;
  Port first, second, third;
  Listening two(world, 2, addresses({&first, &second, &third}));
  Outsider present(world, second);
  present.say(hello_of({.from = 3, .to = 2, .life = 1, .number = 1}));
  BOOST_TEST(taken(present));
  {
    Outsider gone(world, second);
    gone.say(hello_of({.from = 3, .to = 2, .life = 1, .number = 2}));
  }
  UNTIL(world, two.sessions.counters().accepted == 2);
  world.settle();
  BOOST_TEST(!present.closed());
  two.ask(3);
  BOOST_TEST(present.hear().has_value());
}

// If a node believed such a life, it would refuse the real node.
BOOST_AUTO_TEST_CASE(a_first_hello_of_a_life_that_cannot_be_keeps_no_node_out) {
  TwoNodes net;
  for (const std::uint64_t life : {most_lives_ahead + 1, highest_number - 1}) {
    Outsider liar(net.world, net.first);
    liar.say(hello_of({.from = 2, .to = 1, .life = life}));
    const auto said = liar.hear();
    BOOST_TEST_REQUIRE((said && std::holds_alternative<net::Refusal>(*said)));
    BOOST_TEST(std::get<net::Refusal>(*said).reason == net::RefusalReason::stranger);
  }
  const auto call = net.two.ask(1);
  UNTIL(net.world, net.two.has(TestNode::answered(1, call)));
}

// After this node has sent its Hello, and before it gets an answer, it learns from another
// connection which life answers. The answering Hello need not contain the instance, since a refusal
// follows.
BOOST_AUTO_TEST_CASE(who_refuses_this_node_is_not_taken_for_a_clone_meanwhile) {
  SocketWorld world;
  Port first, second;
  Listening two(world, 2, addresses({&first, &second}));
  Door door(world, first);
  two.ask(1);
  Outsider dialled = door.next();
  BOOST_TEST(taken(dialled));
  Outsider crosses(world, second);
  crosses.say(hello_of({.from = 1, .to = 2, .life = 4}));
  const auto crossing = crosses.hear();
  BOOST_TEST_REQUIRE((crossing && std::holds_alternative<net::Refusal>(*crossing)));
  net::Hello before_refusal = hello_of({.from = 1, .to = 2, .life = 4, .instance = 0, .number = 2});
  before_refusal.session = 0;
  dialled.say(before_refusal);
  dialled.say(net::Refusal{net::RefusalReason::outlived, "9 was seen of it", 9});
  UNTIL(world, two.has("outlived"));
  BOOST_TEST(two.warnings == (test::Words{"node 1 refuses this node: 9 was seen of it"}));
  BOOST_TEST(two.has("differing"));
}

// --- Wire versions: today's, and the next one too

constexpr net::WireVersions today{2, 2};
constexpr net::WireVersions both{2, 3};

BOOST_AUTO_TEST_CASE(who_has_agreed_on_one_version_and_speaks_another_is_closed) {
  for (const auto& [wire, spoken] : {std::pair(today, 2), std::pair(both, 3)}) {
    for (std::uint8_t version = 2; version < 4; ++version) {
      SocketWorld world;
      Port first, second, third;
      Listening one(world, 1, addresses({&first, &second, &third}), {.wire = both});
      Outsider three(world, first);
      net::Hello hello = hello_of({.from = 3, .to = 1});
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
