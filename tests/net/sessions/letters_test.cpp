#include "socket_world.hpp"

// Sessions without faults, and calls to nodes that are not running.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(letters)

BOOST_FIXTURE_TEST_CASE(many_letters_both_ways_keep_their_order, TwoNodes) {
  constexpr std::uint64_t count = 500;
  for (std::uint64_t i = 0; i < count; ++i) {
    one.ask(2);
    two.ask(1);
  }
  UNTIL(world, one.entries("answer").size() == count && two.entries("answer").size() == count);
  for (auto* node : {&one, &two}) {
    const std::uint32_t other = node == &one ? 2 : 1;
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

BOOST_FIXTURE_TEST_CASE(letters_as_large_as_they_may_be_go_through, TwoNodes) {
  const std::string task(32 * 1024, 'd');
  std::vector<std::uint64_t> calls;
  two.on_call = [&](const Letter& call) {
    BOOST_TEST(std::get<Ready>(call.message).definition.data == task);
    two.answer(call, Joined{Holdings{Report{task}, {}, {}, false}});
  };
  const Ready ready{{NodeId{1}, Incarnation{1}, 1}, Incarnation{1}, {1, NodeId{1}}, {task}};
  for (int i = 0; i < 40; ++i) calls.push_back(one.call(2, ready));
  UNTIL(world, one.entries("answer").size() == calls.size());
  BOOST_TEST(one.sessions.counters().bytes_out > calls.size() * task.size());
}

BOOST_FIXTURE_TEST_CASE(nothing_is_told_after_the_end, TwoNodes) {
  one.ask(2);
  one.ask(9);
  one.sessions.close();
  one.sessions.send(one.letter(2, CallNumber{77}, AreYouThere{}), 1s);
  one.sessions.close();
  const auto call = two.ask(1);
  UNTIL(world, two.has(TestNode::unanswered(1, call)));
  BOOST_TEST(one.log.empty());
}

BOOST_AUTO_TEST_CASE(an_address_that_is_none_is_said_with_exit_code_64) {
  SocketWorld world;
  for (const char* address : {"127.0.0.1", "127.0.0.1:99999", ":7101", "1:2:3"}) {
    TestNode node(world, 1, {{NodeId{1}, address}});
    const Failure failure = test::failure_of(node.sessions.listen());
    BOOST_TEST(static_cast<int>(failure.code) == 64);
    BOOST_TEST(test::says(failure.what, address));
  }
}

BOOST_AUTO_TEST_CASE(a_port_may_be_chosen_by_the_system) {
  SocketWorld world;
  Listening one(world, 1, {{NodeId{1}, "127.0.0.1:0"}, {NodeId{2}, "127.0.0.1:0"}});
  Listening two(world, 2, {{NodeId{1}, "127.0.0.1:0"}, {NodeId{2}, "localhost:0"}});
  one.sessions.relocate(NodeId{2}, "localhost:" + std::to_string(two.sessions.port()));
  const auto call = one.ask(2);
  UNTIL(world, one.has(TestNode::answered(2, call)));
}

BOOST_FIXTURE_TEST_CASE(hello_can_be_said_without_a_call, TwoNodes) {
  one.sessions.greet();
  UNTIL(world, two.sessions.lives().size() == 1 && one.sessions.lives().size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
