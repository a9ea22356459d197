#include "wire/questions.hpp"
#include "net/tls/made.hpp"
#include "socket_world.hpp"
#include "tls/tls.hpp"

/// The questions of a coordinator to a member, each with its answer on a connection of its own.

using namespace sessions_test;
using net::Questions;

namespace {

const GroupNumber g7{7, NodeId{1}};
constexpr std::size_t most_bytes = 2'000'000;
using Outcome = Done<Bytes>::Outcome;

/// The certificates of nodes 1 and 2, or none of them.
class Proofs {
 public:
  [[nodiscard]] std::shared_ptr<net::Tls> of(std::uint32_t id) const {
    const auto own = test::made(
        {.alternative_names = {"URI:muster://test/node/" + std::to_string(id)}}, &authority_);
    const std::string name = std::to_string(id);
    const net::TlsOptions options{files_.write("ca.pem", {&authority_}),
                                  files_.write(name + ".pem", {&own}),
                                  files_.write_key(name + ".key", own), "", "test"};
    auto tls = std::make_shared<net::Tls>();
    tls->renew(net::Credentials::load(options, {NodeId{1}, NodeId{2}}, std::nullopt).value());
    return tls;
  }

 private:
  test::Files files_;
  test::Made authority_ = test::made({.authority = true});
};

/// Node 2, a member of group 7, and node 1, its coordinator.
struct Two {
  struct Asked {
    Inquiry inquiry;
    Answered answered;
  };

  explicit Two(net::WireVersions of_member = {}, const Proofs* from = nullptr)
      : wire(of_member), proofs(from) {
    Sessions::Handlers handlers;
    handlers.turn = [] {};
    handlers.status = [] { return std::string("{}"); };
    handlers.warn = [](const std::string&) {};
    handlers.asker = [this](const auto& connection, const net::Hello& hello) {
      member->take(connection, hello);
    };
    sessions =
        std::make_unique<Sessions>(world.context.get_executor(), self(2), at, 2s, SessionLimits{},
                                   SafeState{}, std::move(handlers), "", tls_of(2));
    BOOST_REQUIRE(sessions->listen().has_value());
  }
  ~Two() {
    member->close();
    coordinator->close();
    sessions->close();
    world.settle();
  }
  [[nodiscard]] net::Self self(std::uint32_t id) const {
    return {NodeId{id}, Incarnation{1}, id, "name=test\n", id == 2 ? wire : net::WireVersions{}};
  }

  std::shared_ptr<Questions> questions(std::uint32_t id) {
    Questions::Handlers handlers;
    handlers.is_in = [this](GroupNumber group) { return in_group && group == g7; };
    handlers.asked = [this](Inquiry inquiry, Answered answered) -> std::uint64_t {
      asked.push_back({std::move(inquiry), std::move(answered)});
      return asked.size();
    };
    handlers.not_wanted = [this](std::uint64_t question) { not_wanted.push_back(question); };
    return std::make_shared<Questions>(world.context.get_executor(), self(id), at, 2s,
                                       Questions::Limits{most_bytes}, tls_of(id),
                                       std::move(handlers));
  }
  void ask(std::string question, GroupNumber group = g7) {
    coordinator->ask(NodeId{2}, {NodeId{1}, group, true, {std::move(question)}},
                     [this](Outcome outcome) { answer = std::move(outcome); });
  }
  const Outcome& await_answer() {
    UNTIL(world, answer.has_value());
    return *answer;
  }
  std::string bytes_of_answer() {
    BOOST_REQUIRE(await_answer().has_value());
    return (*answer)->data;
  }
  /// Node 1 asks, and the world runs until the member has received the question.
  void ask_and_await(std::string question) {
    ask(std::move(question));
    UNTIL(world, !asked.empty());
  }

  [[nodiscard]] std::shared_ptr<net::Tls> tls_of(std::uint32_t id) const {
    return proofs != nullptr ? proofs->of(id) : std::make_shared<net::Tls>();
  }

  net::WireVersions wire;  ///< the versions that the member speaks
  const Proofs* proofs;
  SocketWorld world;
  Port first, second;
  std::map<NodeId, std::string> at = addresses({&first, &second});
  bool in_group = true;
  std::vector<Asked> asked;
  std::vector<std::uint64_t> not_wanted;
  std::optional<Outcome> answer;
  std::shared_ptr<Questions> member = questions(2), coordinator = questions(1);
  std::unique_ptr<Sessions> sessions;
};

/// A peer whose Hello says that it is that node and wants to ask.
struct Asker : Outsider {
  Asker(Two& net, std::uint32_t id) : Outsider(net.world, net.second) {
    net::Hello hello;
    hello.role = net::Role::asker;
    hello.cluster = "name=test\n";
    hello.from = NodeId{id};
    hello.to = NodeId{2};
    hello.incarnation = Incarnation{1};
    say(hello);
    BOOST_REQUIRE(taken(*this));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(questions)

BOOST_AUTO_TEST_CASE(a_question_and_its_answer_may_be_larger_than_any_frame) {
  Two net({2, 3});  // the two nodes can speak any version that both know
  const std::string question(1'500'000, 'q');
  const std::string answer(most_bytes, 'a');
  net.ask_and_await(question);
  BOOST_TEST(net.asked[0].inquiry.from == NodeId{1});
  BOOST_TEST(net.asked[0].inquiry.group == g7);
  BOOST_TEST(net.asked[0].inquiry.working);
  BOOST_TEST(net.asked[0].inquiry.bytes.data == question);
  net.asked[0].answered(Bytes{answer});
  BOOST_TEST(net.bytes_of_answer() == answer);
}

// The TLS handshake alone makes the connection writable, before any Hello.
BOOST_AUTO_TEST_CASE(a_question_goes_over_tls) {
  const Proofs proofs;
  Two net({}, &proofs);
  net.ask_and_await(std::string(1'000'000, 'q'));
  net.asked[0].answered(Bytes{std::string(1'000'000, 'a')});
  BOOST_TEST(net.bytes_of_answer().size() == 1'000'000U);
}

BOOST_FIXTURE_TEST_CASE(an_empty_question_has_an_empty_answer, Two) {
  ask_and_await("");
  asked[0].answered(Bytes{});
  BOOST_TEST(bytes_of_answer().empty());
}

BOOST_FIXTURE_TEST_CASE(why_there_is_no_answer_is_told, Two) {
  ask_and_await("?");
  asked[0].answered({boost::system::in_place_error, "the disk is on fire"});
  BOOST_TEST(await_answer().error() == "node 2: the disk is on fire");
}

BOOST_FIXTURE_TEST_CASE(who_asks_in_another_group_is_told_so_and_not_heard, Two) {
  ask(std::string(1'000'000, 'q'), GroupNumber{8, NodeId{1}});
  BOOST_TEST(await_answer().error() == "node 2: it is not in group 8");
  BOOST_TEST(asked.empty());
}

BOOST_AUTO_TEST_CASE(a_member_that_left_the_group_while_it_was_asked_does_not_hear_the_question) {
  Two net;
  Asker asker(net, 1);
  asker.say(net::Asks{g7, true});
  asker.say(net::Piece{"half", false});
  net.world.settle();
  net.in_group = false;
  asker.say(net::Piece{"whole", true});
  const auto answer = asker.hear();
  BOOST_REQUIRE(answer && std::holds_alternative<net::NoAnswer>(*answer));
  BOOST_TEST(net.asked.empty());
}

BOOST_FIXTURE_TEST_CASE(nobody_asks_in_the_name_of_another_coordinator, Two) {
  Asker asker(*this, 3);
  asker.say(net::Asks{g7, true});
  BOOST_TEST(!asker.hear().has_value());
  BOOST_TEST(asked.empty());
}

BOOST_FIXTURE_TEST_CASE(more_bytes_than_the_limit_end_the_connection, Two) {
  Asker asker(*this, 1);
  asker.say(net::Asks{g7, true});
  const std::string piece = net::encode_frame(net::Piece{std::string(32 * 1024, 'x'), false});
  for (std::size_t sent = 0; sent <= most_bytes; sent += 32 * 1024) {
    asker.say(piece);
    world.settle();
  }
  BOOST_TEST(!asker.hear().has_value());
  BOOST_TEST(asked.empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_question_ends_the_connection) {
  for (const net::Frame& frame :
       {net::Frame(net::StatusQuestion{}), net::Frame(net::Piece{"too soon", true})}) {
    Two net;
    Asker asker(net, 1);
    asker.say(frame);
    BOOST_TEST(!asker.hear().has_value());
  }
}

BOOST_FIXTURE_TEST_CASE(one_more_who_asks_ends_the_oldest, Two) {
  std::vector<Asker> askers;
  for (int i = 0; i < 5; ++i) askers.emplace_back(*this, 1);
  BOOST_TEST(!askers[0].hear().has_value());
  BOOST_TEST(!askers[1].closed());
}

BOOST_FIXTURE_TEST_CASE(the_asked_node_is_told_that_the_answer_is_not_wanted_any_more, Two) {
  ask_and_await("?");
  coordinator->give_up();
  UNTIL(world, !not_wanted.empty());
  BOOST_TEST(not_wanted.at(0) == 1u);
  asked[0].answered(Bytes{"late"});
  world.settle();
  BOOST_TEST(!answer.has_value());
}

BOOST_FIXTURE_TEST_CASE(a_member_that_ends_is_no_answer, Two) {
  ask_and_await("?");
  member->close();
  BOOST_TEST(await_answer().error().starts_with("node 2: the connection ended"));
}

BOOST_FIXTURE_TEST_CASE(a_member_that_is_not_there_is_no_answer, Two) {
  sessions->close();
  ask("?");
  BOOST_TEST(await_answer().error() == "node 2: it cannot be reached");
}

BOOST_AUTO_TEST_SUITE_END()
