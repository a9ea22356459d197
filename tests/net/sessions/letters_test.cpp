#include "world.hpp"

// What sessions do when nothing goes wrong, and what becomes of calls to nobody.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(letters)

BOOST_AUTO_TEST_CASE(many_letters_both_ways_keep_their_order) {
  TwoNodes net;
  constexpr std::uint64_t count = 500;
  for (std::uint64_t i = 0; i < count; ++i) {
    net.one.ask(2);
    net.two.ask(1);
  }
  UNTIL(net.world,
        net.one.entries("answer").size() == count && net.two.entries("answer").size() == count);
  for (auto* node : {&net.one, &net.two}) {
    const std::uint32_t other = node == &net.one ? 2 : 1;
    const auto calls = node->entries("call");
    const auto answers = node->entries("answer");
    BOOST_REQUIRE(calls.size() == count);
    for (std::uint64_t i = 0; i < count; ++i) {
      BOOST_TEST(calls[i] == TestNode::called(other, i + 1));
      BOOST_TEST(answers[i] == TestNode::answered(other, i + 1));
    }
    BOOST_TEST(node->sessions.counters().resent == 0u);
    BOOST_TEST(node->sessions.counters().broken == 0u);
  }
}

BOOST_AUTO_TEST_CASE(letters_as_large_as_they_may_be_go_through) {
  TwoNodes net;
  const std::string task(32 * 1024, 'd');
  std::vector<std::uint64_t> calls;
  net.two.on_call = [&](const Letter& call) {
    BOOST_TEST(std::get<Ready>(call.message).definition.data == task);
    net.two.answer(call, Joined{Holdings{Report{task}, {}, {}, false}});
  };
  for (int i = 0; i < 40; ++i)
    calls.push_back(net.one.call(2, Ready{{}, Incarnation{1}, {}, {task}}));
  UNTIL(net.world, net.one.entries("answer").size() == calls.size());
  BOOST_TEST(net.one.sessions.counters().bytes_out > calls.size() * task.size());
}

BOOST_AUTO_TEST_CASE(a_call_given_up_when_its_fate_is_known_already_is_forgotten) {
  World world;
  Port first, second;
  TestNode one(world, 1, addresses({&first, &second}));
  const auto life = one.announce(9, 1);  // unanswered at once, but not within `send`
  BOOST_TEST(one.log.empty());
  one.sessions.keep_only([](CallNumber) { return false; });
  const auto call = one.ask(2);
  UNTIL(world, one.has(TestNode::unanswered(2, call)));
  BOOST_TEST(!one.has(TestNode::unanswered(9, life)));
}

BOOST_AUTO_TEST_CASE(nothing_is_told_after_the_end) {
  TwoNodes net;
  net.one.ask(2);
  net.one.ask(9);
  net.one.sessions.close();
  net.one.sessions.send(net.one.letter(2, CallNumber{77}, AreYouThere{}), 1s);
  net.one.sessions.close();
  const auto call = net.two.ask(1);
  UNTIL(net.world, net.two.has(TestNode::unanswered(1, call)));
  BOOST_TEST(net.one.log.empty());
}

BOOST_AUTO_TEST_CASE(an_address_that_is_none_is_said_with_exit_code_64) {
  World world;
  for (const char* address : {"127.0.0.1", "127.0.0.1:99999", ":7101", "1:2:3"}) {
    TestNode node(world, 1, {{NodeId{1}, address}});
    const auto listening = node.sessions.listen();
    BOOST_REQUIRE(listening.has_error());
    BOOST_TEST(static_cast<int>(listening.error().code) == 64);
    BOOST_TEST(listening.error().what.find(address) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_port_may_be_chosen_by_the_system) {
  World world;
  Listening one(world, 1, {{NodeId{1}, "127.0.0.1:0"}, {NodeId{2}, "127.0.0.1:0"}});
  Listening two(world, 2, {{NodeId{1}, "127.0.0.1:0"}, {NodeId{2}, "localhost:0"}});
  one.sessions.relocate(NodeId{2}, "localhost:" + std::to_string(two.sessions.port()));
  const auto call = one.ask(2);
  UNTIL(world, one.has(TestNode::answered(2, call)));
}

BOOST_AUTO_TEST_CASE(hello_can_be_said_without_a_call) {
  TwoNodes net;
  net.one.sessions.greet();
  UNTIL(net.world, net.two.sessions.lives().size() == 1 && net.one.sessions.lives().size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
