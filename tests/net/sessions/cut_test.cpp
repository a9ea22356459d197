#include "proxy.hpp"

// If a connection between living nodes breaks, no letter is lost, no death is proven, and no new
// session begins.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(cuts)

namespace {

constexpr std::uint64_t calls_each = 4;

/// Two nodes that ask each other, with two calls at a time, over connections that the test cuts.
class Conversation {
 public:
  explicit Conversation(Scissors& scissors)
      : to_one_(world_, one_as_seen_, one_at_, scissors),
        to_two_(world_, two_as_seen_, two_at_, scissors) {}

  void run() {
    for (std::uint64_t asked = 0; asked < calls_each; asked += 2) {
      for (int i = 0; i < 2; ++i) {
        one.ask(2);
        two.ask(1);
      }
      UNTIL(world_, over(asked + 2));
    }
  }

  /// Checks that every call arrived once and was answered once, in order, and that nothing else
  /// happened.
  void check(std::size_t cut_at) const {
    for (const TestNode* node : {&one, &two}) {
      const std::uint32_t other = node == &one ? 2 : 1;
      std::vector<std::string> calls, answers;
      for (std::uint64_t i = 1; i <= calls_each; ++i) {
        calls.push_back(TestNode::called(other, i));
        answers.push_back(TestNode::answered(other, i));
      }
      const bool nothing_lost =
          node->entries("call") == calls && node->entries("answer") == answers;
      BOOST_TEST(nothing_lost, "cut after byte " << cut_at);
      BOOST_TEST(node->log.size() == 2 * calls_each, "cut after byte " << cut_at);
      BOOST_TEST(node->sessions.lives().size() == 1u);
      BOOST_TEST(node->sessions.counters().garbage == 0u);
    }
  }

 private:
  [[nodiscard]] bool over(std::uint64_t asked) const {
    return one.entries("answer").size() >= asked && two.entries("answer").size() >= asked;
  }
  SocketWorld world_;
  Port one_at_, two_at_, one_as_seen_, two_as_seen_;
  Proxy to_one_, to_two_;

 public:
  // A cut before a Hello may give no error. Then the node waits for that Hello for T, so T is short
  // here.
  Listening one{world_, 1, addresses({&one_at_, &two_as_seen_}), {.T = 100ms}};
  Listening two{world_, 2, addresses({&one_as_seen_, &two_at_}), {.T = 100ms}};
};

void cut_after_every(Scissors::Side side, std::size_t first, std::size_t step) {
  std::size_t cut_at = first;
  for (bool cut = true; cut; cut_at += step) {
    Scissors scissors{.bytes = cut_at, .side = side};
    Conversation conversation(scissors);
    conversation.run();
    conversation.check(cut_at);
    cut = scissors.cuts > 0;
  }
  BOOST_TEST(cut_at > 1000u);  // many letters passed, and each of their bytes had a cut
}

}  // namespace

BOOST_AUTO_TEST_CASE(after_every_byte_for_both) {
  cut_after_every(Scissors::Side::both, 1, 1);
}

BOOST_AUTO_TEST_CASE(for_the_dialler_alone) {
  cut_after_every(Scissors::Side::dialler, 1, 5);
}

BOOST_AUTO_TEST_CASE(for_the_acceptor_alone) {
  cut_after_every(Scissors::Side::acceptor, 1, 11);
}

BOOST_AUTO_TEST_CASE(again_and_again) {
  // If two dials cross, some 360 bytes pass before the first letter.
  for (std::size_t bytes = 600; bytes < 1000; bytes += 19) {
    Scissors scissors{.bytes = bytes, .again = true};
    Conversation conversation(scissors);
    conversation.run();
    conversation.check(bytes);
    BOOST_TEST(scissors.cuts > 0u);
  }
}

BOOST_FIXTURE_TEST_CASE(on_purpose, TwoNodes) {
  for (std::uint64_t i = 1; i <= 50; ++i) {
    one.ask(2);
    two.ask(1);
    world.context.restart();
    for (std::uint64_t turn = 0; turn < i; ++turn) world.context.poll_one();
    (i % 2 == 0 ? one : two).sessions.break_connections();
  }
  UNTIL(world, one.log.size() >= 100 && two.log.size() >= 100);
  for (const TestNode* node : {&one, &two}) {
    BOOST_TEST(node->log.size() == 100u);
    BOOST_TEST(node->entries("answer").size() == 50u);
    BOOST_TEST(node->entries("failed").empty());
  }
  BOOST_TEST(one.sessions.counters().broken > 10u);
}

BOOST_AUTO_TEST_SUITE_END()
