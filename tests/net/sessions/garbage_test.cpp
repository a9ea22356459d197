#include "child.hpp"
#include "socket_world.hpp"

#include <random>

#include <sys/resource.h>

// Bytes that an unauthenticated peer may send to the port of a node. The node goes on.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(garbage)

namespace {

struct TwoOfThree {
  SocketWorld world;
  Port first, second, third;
  Listening one, two;
  explicit TwoOfThree(const Setting& setting = {})
      : one(world, 1, addresses({&first, &second, &third}), setting),
        two(world, 2, addresses({&first, &second, &third}), setting) {}
  [[nodiscard]] std::uint64_t garbage() const { return one.sessions.counters().garbage; }
  void still_works() {
    const auto call = two.ask(1);
    UNTIL(world, two.has(TestNode::answered(1, call)));
  }
};

const Setting impatient{.limits = {.hello_deadline = 30ms, .frame_deadline = 30ms}};
/// The deadlines are long. So no connection closes only because its peer is slow.
const Setting patient{.limits = {.hello_deadline = 1h, .frame_deadline = 1h}};

}  // namespace

BOOST_FIXTURE_TEST_CASE(noise_closes_its_connection_and_nothing_else, TwoOfThree) {
  still_works();
  std::minstd_rand random(7);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    Outsider outsider(world, first);
    std::string noise(10'000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    outsider.say(noise);
    UNTIL(world, outsider.closed());
    UNTIL(world, garbage() == i);
  }
  still_works();
  BOOST_TEST(one.sessions.counters().broken == 0u);
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_limit_is_enough_to_be_closed) {
  TwoOfThree net(patient);
  for (const std::string& length :
       {std::string("\x01\x00\x01\x00", 4), std::string("\xff\xff\xff\xff", 4),
        std::string("\x00\x00\x00\x00", 4)}) {
    Outsider outsider(net.world, net.first);
    outsider.say(length);
    UNTIL(net.world, outsider.closed());
  }
  BOOST_TEST(net.garbage() == 3u);
}

// In a flood, each such Hello would cost the node a checksum and a comparison.
BOOST_AUTO_TEST_CASE(a_hello_far_longer_than_any_is_refused_by_its_length) {
  TwoOfThree net(patient);
  net::Hello hello = hello_of({.from = 3, .to = 1});
  hello.cluster = std::string(30'000, '=');
  const std::string frame = net::encode_frame(hello);
  Outsider outsider(net.world, net.first);
  outsider.say(frame.substr(0, 4));
  UNTIL(net.world, outsider.closed());
  BOOST_TEST(net.garbage() == 1u);
}

BOOST_AUTO_TEST_CASE(who_says_a_hello_byte_by_byte_is_closed_after_a_while) {
  TwoOfThree net(impatient);
  Outsider slow(net.world, net.first);
  const std::string hello = net::encode_frame(hello_of({.from = 3, .to = 1}));
  auto at = hello.begin();
  net.world.until(
      [&] {
        if (at != hello.end() - 1) slow.say(std::string(1, *at++));
        return slow.closed();
      },
      "it is closed before its Hello is whole");
  BOOST_TEST(net.garbage() >= 1u);
  net.still_works();
}

BOOST_AUTO_TEST_CASE(a_frame_that_is_never_whole_ends_the_connection_and_not_the_session) {
  TwoOfThree net(impatient);
  Outsider three(net.world, net.first);
  three.say(hello_of({.from = 3, .to = 1, .life = 1, .number = 1}));
  BOOST_TEST(three.hear().has_value());
  three.say(std::string("\x40\x00", 2));
  BOOST_TEST(!three.hear().has_value());
  BOOST_TEST(net.garbage() == 1u);
  BOOST_TEST(net.one.entries("unanswered").empty());
}

BOOST_AUTO_TEST_CASE(a_flood_of_connections_leaves_the_nodes_of_the_cluster_their_place) {
  TwoOfThree net({.limits = {.unknown_peers = 16}});
  net.still_works();
  std::vector<Outsider> flood;
  for (int i = 0; i < 300; ++i) flood.emplace_back(net.world, net.first);
  UNTIL(net.world, net.one.sessions.counters().crowded >= 284);
  net.still_works();
  BOOST_TEST(net.one.sessions.counters().broken == 0u);
  // Even a node that had no connection before the flood can connect now.
  Outsider three(net.world, net.first);
  three.say(hello_of({.from = 3, .to = 1}));
  BOOST_TEST(taken(three));
  BOOST_TEST(std::ranges::count_if(flood, [](Outsider& one) { return !one.closed(); }) <= 16);
}

BOOST_AUTO_TEST_CASE(without_file_descriptors_unknown_peers_go_and_nodes_stay) {
  Port first, second, third;
  const auto known = addresses({&first, &second, &third});
  // The child is forked first, since it must not inherit later objects.
  const test::Child poor([&](int) {
    SocketWorld world;
    TestNode one(world, 1, known, {.limits = {.unknown_peers = 1000}});
    const rlimit few{40, 40};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0 || !one.sessions.listen()) return 1;
    world.context.run();
    return 0;
  });
  SocketWorld world;
  TestNode two(world, 2, known);
  const auto asks = [&] {
    two.log.clear();
    const auto call = two.ask(1);
    UNTIL(world, !two.log.empty());
    return two.has(TestNode::answered(1, call));
  };
  while (!asks()) {  // until it listens
  }
  std::vector<Outsider> flood;
  for (int i = 0; i < 100; ++i) flood.emplace_back(world, first);
  UNTIL(world, flood[0].closed());
  BOOST_TEST(asks());
  BOOST_TEST(two.sessions.counters().broken == 0u);
  TestNode three(world, 3, known);
  const auto call = three.ask(1);
  UNTIL(world, three.has(TestNode::answered(1, call)));
}

BOOST_AUTO_TEST_SUITE_END()
