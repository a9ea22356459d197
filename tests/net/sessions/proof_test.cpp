#include "world.hpp"

#include <csignal>

#include <sys/wait.h>

// What proves that a life is over, what follows from it, in which order; and what proves nothing.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(proof)

namespace {

/// Node 1, and the port where node 2 would listen.
struct OneOfTwo {
  World world;
  Port first, second;
  TestNode one;
  explicit OneOfTwo(Setting setting = {})
      : one(world, 1, addresses({&first, &second}), std::move(setting)) {
    BOOST_REQUIRE(one.sessions.listen().has_value());
  }
  /// Node 2 in that life says Hello and is answered.
  net::Hello greet(Outsider& two, std::uint64_t life, std::uint64_t instance,
                   std::uint64_t number = 1) {
    two.dial(first);
    two.say(hello_of(2, 1, life, instance, number));
    const auto answer = two.hear();
    BOOST_REQUIRE(answer && std::holds_alternative<net::Hello>(*answer));
    return std::get<net::Hello>(*answer);
  }
};

net::Carried carried(std::uint64_t number, Letter letter) {
  return {number, 0, std::move(letter)};
}

Letter letter_of_two(std::uint64_t life, std::uint64_t call, Message message = AreYouThere{}) {
  return {NodeId{2}, Incarnation{life}, NodeId{1}, CallNumber{call}, std::move(message)};
}

net::Carried hear_letter(Outsider& outsider) {
  const auto frame = outsider.hear();
  BOOST_REQUIRE(frame && std::holds_alternative<net::Carried>(*frame));
  return std::get<net::Carried>(*frame);
}

/// A process that is node 2 and answers until it is killed.
class Child {
 public:
  Child(const Port& first, const Port& second) : pid_(::fork()) {
    BOOST_REQUIRE(pid_ >= 0);
    if (pid_ > 0) return;
    World world;
    TestNode two(world, 2, addresses({&first, &second}));
    if (!two.sessions.listen()) ::_exit(75);
    world.context.run();
    ::_exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void pause() const { ::kill(pid_, SIGSTOP); }

 private:
  pid_t pid_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(kill_is_proven) {
  for (int i = 0; i < 10; ++i) {
    Port first, second;
    Child two(first, second);  // before there is anything that it must not inherit
    World world;
    TestNode one(world, 1, addresses({&first, &second}));
    BOOST_REQUIRE(one.sessions.listen().has_value());
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

BOOST_AUTO_TEST_CASE(who_accepts_and_resets_is_neither_alive_nor_proven_dead) {
  OneOfTwo net;
  std::optional<TestNode> two(std::in_place, net.world, 2, addresses({&net.first, &net.second}));
  BOOST_REQUIRE(two->sessions.listen().has_value());
  const auto first_call = net.one.ask(2);
  UNTIL(net.world, net.one.has(TestNode::answered(2, first_call)));
  net.one.log.clear();

  two->sessions.close();
  Tcp::acceptor dying(net.world.context);
  dying.open(Tcp::v4());
  dying.set_option(Tcp::acceptor::reuse_address(true));
  dying.bind(net.second.endpoint());
  dying.listen();
  dying.non_blocking(true);
  const auto call = net.one.ask(2);
  for (int resets = 0; resets < 8; ++resets) {
    Tcp::socket socket(net.world.context);
    boost::system::error_code error = boost::asio::error::would_block;
    net.world.until(
        [&] {
          dying.accept(socket, error);
          return !error;
        },
        "it is dialled again");
    socket.set_option(Tcp::socket::linger(true, 0));
    socket.close();
    net.world.settle();
    BOOST_TEST(net.one.log.empty());
  }
  dying.close();
  UNTIL(net.world, net.one.log.size() == 2);
  BOOST_TEST(net.one.log[0] == TestNode::failed(2, 1));
  BOOST_TEST(net.one.log[1] == TestNode::unanswered(2, call));
}

BOOST_AUTO_TEST_CASE(what_a_life_said_comes_before_its_end_and_its_calls_after) {
  OneOfTwo net;
  Outsider two(net.world);
  net.greet(two, 1, 4711);
  const auto to_node = net.one.ask(2);
  const auto to_life = net.one.announce(2, 1);
  two.say(carried(1, letter_of_two(1, 1)));
  two.say(carried(2, letter_of_two(1, to_node, Answer{Here{}})));
  two.say(net::encode_frame(carried(3, letter_of_two(1, 2))).substr(0, 20));
  two.reset();
  UNTIL(net.world, net.one.log.size() == 4);
  const std::vector<std::string> expected{TestNode::called(2, 1), TestNode::answered(2, to_node),
                                          TestNode::failed(2, 1), TestNode::unanswered(2, to_life)};
  BOOST_TEST(net.one.log == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(hello_of_a_newer_life_ends_the_older_one) {
  Setting setting;
  setting.answers = false;
  OneOfTwo net(setting);
  Outsider old(net.world);
  net.greet(old, 1, 4711);
  const auto to_node = net.one.ask(2);
  const auto to_life = net.one.announce(2, 1);
  BOOST_TEST(hear_letter(old).letter.call.value == to_node);
  BOOST_TEST(hear_letter(old).letter.call.value == to_life);
  old.say(carried(1, letter_of_two(1, 5)));
  UNTIL(net.world, net.one.calls.size() == 1);
  old.say(carried(2, letter_of_two(1, 6)));  // still to be read when the new life says Hello

  Outsider young(net.world);
  const net::Hello answer = net.greet(young, 2, 4712);
  BOOST_TEST(answer.peer_instance == 4712u);
  BOOST_TEST(answer.received == 0u);
  const std::vector<std::string> expected{TestNode::called(2, 5), TestNode::called(2, 6),
                                          TestNode::failed(2, 1), TestNode::unanswered(2, to_life)};
  BOOST_TEST(net.one.log == expected, boost::test_tools::per_element());
  BOOST_TEST(old.closed());

  // The call to the node goes to the life that it meets now, and what is owed to the old one goes
  // nowhere.
  const net::Carried again = hear_letter(young);
  BOOST_TEST(again.letter.call.value == to_node);
  BOOST_TEST(again.number == 1u);
  net.one.answer(net.one.calls.at(0));
  young.say(carried(1, letter_of_two(2, 5)));
  UNTIL(net.world, net.one.calls.size() == 3);
  net.one.answer(net.one.calls.at(2), Normality{true});
  const net::Carried to_young = hear_letter(young);
  BOOST_TEST(to_young.letter.call.value == 5u);
  BOOST_TEST(std::holds_alternative<Normality>(std::get<Answer>(to_young.letter.message).result));
  young.say(carried(2, letter_of_two(2, to_node, Answer{Here{}})));
  UNTIL(net.world, net.one.has(TestNode::answered(2, to_node)));
}

BOOST_AUTO_TEST_CASE(what_the_old_life_said_is_read_before_the_hello_of_the_new_one_is_heeded) {
  OneOfTwo net;
  Outsider old(net.world), young(net.world);
  net.greet(old, 1, 4711);
  young.dial(net.first);
  UNTIL(net.world, net.one.sessions.counters().accepted == 2);
  net.world.settle();
  young.say(hello_of(2, 1, 2, 4712));  // it is the first that can be read
  old.say(carried(1, letter_of_two(1, 5)));
  UNTIL(net.world, net.one.log.size() == 2);
  BOOST_TEST(net.one.log[0] == TestNode::called(2, 5));
  BOOST_TEST(net.one.log[1] == TestNode::failed(2, 1));
}

BOOST_AUTO_TEST_CASE(a_letter_that_comes_twice_is_taken_once) {
  OneOfTwo net;
  Outsider two(net.world);
  net.greet(two, 1, 4711);
  for (std::uint64_t number : {1u, 2u, 2u, 1u, 7u, 5u})
    two.say(carried(number, letter_of_two(1, number)));
  UNTIL(net.world, net.one.sessions.counters().duplicates == 3);
  const std::vector<std::string> expected{TestNode::called(2, 1), TestNode::called(2, 2),
                                          TestNode::called(2, 7)};
  BOOST_TEST(net.one.log == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_late_for_one_life_does_not_go_to_a_call_of_the_next) {
  // The same number in both lives, and the old life's call is answered from within the handler that
  // is told of it, when the new life's call has come already.
  OneOfTwo net;
  Outsider old(net.world), young(net.world);
  net.greet(old, 1, 4711);
  old.say(carried(1, letter_of_two(1, 9)));
  young.dial(net.first);
  young.say(hello_of(2, 1, 2, 4712));
  const auto hello = young.hear();
  BOOST_REQUIRE(hello);
  UNTIL(net.world, net.one.calls.size() == 1);
  young.say(carried(1, letter_of_two(2, 10)));
  BOOST_TEST(hear_letter(young).letter.call.value == 10u);
}

BOOST_AUTO_TEST_CASE(a_call_to_a_life_that_is_over_is_unanswered_at_once) {
  Setting setting;
  setting.seen = {{NodeId{2}, Incarnation{3}}};
  OneOfTwo net(setting);
  const auto never = net.one.announce(2, 2);  // known from an earlier life of this node
  UNTIL(net.world, net.one.has(TestNode::unanswered(2, never)));
  BOOST_TEST(net.one.sessions.counters().dialled == 0u);

  Outsider two(net.world);
  net.greet(two, 5, 4711);
  for (std::uint64_t life : {3u, 4u, 6u}) {
    const auto other = net.one.announce(2, life);
    UNTIL(net.world, net.one.has(TestNode::unanswered(2, other)));
  }
  const auto present = net.one.announce(2, 5);
  BOOST_TEST(hear_letter(two).letter.call.value == present);
  two.reset();
  UNTIL(net.world, net.one.has(TestNode::failed(2, 5)));
  const auto dialled = net.one.sessions.counters().dialled;
  const auto dead = net.one.announce(2, 5);
  UNTIL(net.world, net.one.has(TestNode::unanswered(2, dead)));
  BOOST_TEST(net.one.sessions.counters().dialled == dialled);
}

BOOST_AUTO_TEST_CASE(a_call_made_during_a_dial_is_not_judged_by_it) {
  OneOfTwo net;
  const auto before = net.one.ask(2);
  const auto after = net.one.ask(2);  // the dial for the first has begun
  UNTIL(net.world, net.one.log.size() == 2);
  BOOST_TEST(net.one.has(TestNode::unanswered(2, before)));
  BOOST_TEST(net.one.has(TestNode::unanswered(2, after)));
  BOOST_TEST(net.one.sessions.counters().dialled == 2u);
}

BOOST_AUTO_TEST_CASE(a_refused_dial_that_is_older_than_a_hello_proves_nothing) {
  OneOfTwo net;
  const auto call = net.one.ask(2);  // the dial is refused, but nobody has looked yet
  Outsider two(net.world);
  two.dial(net.first);
  two.say(hello_of(2, 1));
  BOOST_TEST(std::holds_alternative<net::Hello>(two.hear().value()));
  BOOST_TEST(hear_letter(two).letter.call.value == call);
  two.say(carried(1, letter_of_two(1, call, Answer{Here{}})));
  UNTIL(net.world, net.one.has(TestNode::answered(2, call)));
  BOOST_TEST(net.one.log.size() == 1u);
}

// A firewall that rejects forges the proof. The life is met again, and a new session begins with
// it.
BOOST_AUTO_TEST_CASE(a_life_that_was_taken_for_dead_begins_a_new_session) {
  OneOfTwo net;
  Outsider two(net.world);
  BOOST_TEST(net.greet(two, 1, 4711, 1).session == 1u);
  const auto lost = net.one.ask(2);
  BOOST_TEST(hear_letter(two).number == 1u);
  two.say(carried(1, letter_of_two(1, 1)));
  UNTIL(net.world, net.one.calls.size() == 1);
  two.reset();
  UNTIL(net.world, net.one.has(TestNode::unanswered(2, lost)));
  BOOST_TEST(net.one.count(TestNode::failed(2, 1)) == 1u);

  Outsider back(net.world);
  const net::Hello answer = net.greet(back, 1, 4711, 2);
  BOOST_TEST(answer.session == 2u);
  BOOST_TEST(answer.received == 0u);
  const auto call = net.one.ask(2);
  const net::Carried first = hear_letter(back);
  BOOST_TEST(first.letter.call.value == call);
  BOOST_TEST(first.number == 1u);
  // Nothing was heard from it since: it is not found dead twice.
  back.reset();
  UNTIL(net.world, net.one.has(TestNode::unanswered(2, call)));
  BOOST_TEST(net.one.count(TestNode::failed(2, 1)) == 1u);
}

BOOST_AUTO_TEST_CASE(who_gave_the_session_up_is_not_told_again_what_it_was_told) {
  OneOfTwo net;
  Outsider two(net.world);
  net.greet(two, 1, 4711, 1);
  const auto told = net.one.ask(2, 1h);
  BOOST_TEST(hear_letter(two).letter.call.value == told);

  Outsider back(net.world);
  back.dial(net.first);
  net::Hello hello = hello_of(2, 1, 1, 4711, 2);
  hello.session = 2;
  hello.peer_instance = 0;
  back.say(hello);  // does not know this life: that is its first session with it
  BOOST_TEST(std::holds_alternative<net::Hello>(back.hear().value()));
  BOOST_TEST(hear_letter(back).letter.call.value == told);
  const std::uint64_t instance = [&] {
    Outsider probe(net.world);
    probe.dial(net.first);
    probe.say(hello_of(2, 1, 1, 4711, 3));
    return std::get<net::Hello>(probe.hear().value()).instance;
  }();

  Outsider over(net.world);
  over.dial(net.first);
  hello.number = 4;
  hello.peer_instance = instance;
  over.say(hello);
  BOOST_TEST(std::holds_alternative<net::Hello>(over.hear().value()));
  const auto next = net.one.ask(2);
  const net::Carried heard = hear_letter(over);
  BOOST_TEST(heard.letter.call.value == next);
  BOOST_TEST(heard.number == 1u);
  BOOST_TEST(net.one.log.empty());
}

BOOST_AUTO_TEST_SUITE_END()
