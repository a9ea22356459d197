#include "world.hpp"

#include <csignal>
#include <random>

#include <sys/resource.h>
#include <sys/wait.h>

// What anybody may send to the port of a node, and that the node goes on.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(garbage)

namespace {

struct TwoNodes {
  World world;
  Port first, second, third;
  TestNode one, two;
  explicit TwoNodes(const Setting& setting = {})
      : one(world, 1, addresses({&first, &second, &third}), setting),
        two(world, 2, addresses({&first, &second, &third}), setting) {
    BOOST_REQUIRE(one.sessions.listen().has_value() && two.sessions.listen().has_value());
  }
  [[nodiscard]] std::uint64_t garbage() const { return one.sessions.counters().garbage; }
  void still_works() {
    const auto call = two.ask(1);
    UNTIL(world, two.has(TestNode::answered(1, call)));
  }
};

Setting impatient() {
  Setting setting;
  setting.limits.hello_deadline = 30ms;
  setting.limits.frame_deadline = 30ms;
  return setting;
}

/// What it closes, it does not close because it took long.
Setting patient() {
  Setting setting;
  setting.limits.hello_deadline = 1h;
  setting.limits.frame_deadline = 1h;
  return setting;
}

}  // namespace

BOOST_AUTO_TEST_CASE(noise_closes_its_connection_and_nothing_else) {
  TwoNodes net;
  net.still_works();
  std::minstd_rand random(7);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    Outsider outsider(net.world, net.first);
    std::string noise(10'000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    outsider.say(noise);
    UNTIL(net.world, outsider.closed());
    UNTIL(net.world, net.garbage() == i);
  }
  net.still_works();
  BOOST_TEST(net.one.sessions.counters().broken == 0u);
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_limit_is_enough_to_be_closed) {
  TwoNodes net(patient());
  for (const std::string& length :
       {std::string("\x01\x00\x01\x00", 4), std::string("\xff\xff\xff\xff", 4),
        std::string("\x00\x00\x00\x00", 4)}) {
    Outsider outsider(net.world, net.first);
    outsider.say(length);
    UNTIL(net.world, outsider.closed());
  }
  BOOST_TEST(net.garbage() == 3u);
}

// A flood of such Hellos would cost a checksum and a comparison each.
BOOST_AUTO_TEST_CASE(a_hello_far_longer_than_any_is_refused_by_its_length) {
  TwoNodes net(patient());
  net::Hello hello = hello_of(3, 1);
  hello.cluster = std::string(30'000, '=');
  const std::string frame = net::encode_frame(hello);
  Outsider outsider(net.world, net.first);
  outsider.say(frame.substr(0, 4));
  UNTIL(net.world, outsider.closed());
  BOOST_TEST(net.garbage() == 1u);
}

BOOST_AUTO_TEST_CASE(who_says_a_hello_byte_by_byte_is_closed_after_a_while) {
  TwoNodes net(impatient());
  Outsider slow(net.world, net.first);
  const std::string hello = net::encode_frame(hello_of(3, 1));
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
  TwoNodes net(impatient());
  Outsider three(net.world, net.first);
  three.say(hello_of(3, 1, 1, 4711, 1));
  BOOST_TEST(three.hear().has_value());
  three.say(std::string("\x40\x00", 2));
  BOOST_TEST(!three.hear().has_value());
  BOOST_TEST(net.garbage() == 1u);
  BOOST_TEST(net.one.entries("unanswered").empty());
}

BOOST_AUTO_TEST_CASE(a_flood_of_connections_leaves_the_nodes_of_the_cluster_their_place) {
  Setting setting;
  setting.limits.strangers = 16;
  TwoNodes net(setting);
  net.still_works();
  std::vector<std::unique_ptr<Outsider>> flood;
  for (int i = 0; i < 300; ++i) flood.push_back(std::make_unique<Outsider>(net.world, net.first));
  UNTIL(net.world, net.one.sessions.counters().crowded >= 284);
  net.still_works();
  BOOST_TEST(net.one.sessions.counters().broken == 0u);
  // And a node that was not there before gets in.
  Outsider three(net.world, net.first);
  three.say(hello_of(3, 1));
  const auto answer = three.hear();
  BOOST_TEST((answer && std::holds_alternative<net::Hello>(*answer)));
  BOOST_TEST(std::count_if(flood.begin(), flood.end(), [](auto& one) { return !one->closed(); }) <=
             16);
}

BOOST_AUTO_TEST_CASE(without_file_descriptors_strangers_go_and_nodes_stay) {
  Port first, second, third;
  const auto known = addresses({&first, &second, &third});
  const pid_t poor = ::fork();  // before there is anything that it must not inherit
  BOOST_REQUIRE(poor >= 0);
  if (poor == 0) {
    World world;
    Setting setting;
    setting.limits.strangers = 1000;
    TestNode one(world, 1, known, setting);
    const rlimit few{40, 40};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0 || !one.sessions.listen()) ::_exit(1);
    world.context.run();
    ::_exit(0);
  }
  {
    World world;
    TestNode two(world, 2, known);
    const auto asks = [&] {
      two.log.clear();
      const auto call = two.ask(1);
      UNTIL(world, !two.log.empty());
      return two.has(TestNode::answered(1, call));
    };
    while (!asks()) {  // until it listens
    }
    std::vector<std::unique_ptr<Outsider>> flood;
    for (int i = 0; i < 100; ++i) flood.push_back(std::make_unique<Outsider>(world, first));
    UNTIL(world, flood[0]->closed());
    BOOST_TEST(asks());
    BOOST_TEST(two.sessions.counters().broken == 0u);
    TestNode three(world, 3, known);
    const auto call = three.ask(1);
    UNTIL(world, three.has(TestNode::answered(1, call)));
  }
  ::kill(poor, SIGKILL);
  ::waitpid(poor, nullptr, 0);
}

BOOST_AUTO_TEST_SUITE_END()
