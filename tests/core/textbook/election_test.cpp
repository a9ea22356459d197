#include "core/world/alone.hpp"

#include <boost/test/unit_test.hpp>

/// The Bully as textbooks give it (docs/protocols/textbook/README.md), and its weaknesses compared
/// with the paper's Bully.

namespace muster::test {

namespace {

using textbook::Coordinator;
using textbook::Election;

Config config(std::map<NodeId, std::uint64_t> importance = {}) {
  Config made;
  made.protocol = ProtocolName::textbook;
  made.importance = std::move(importance);
  return made;
}

/// Node 2 of four, up. The test plays the others.
struct Node2 : Alone {
  Node2() : Alone(2, 4, config()) {}

  /// The node believes that node 4 is the coordinator, and its application works.
  void member_of_4() {
    called(4, Coordinator{{7, id(4)}, {"task"}});
    end_hooks();
    BOOST_REQUIRE((state().s == Status::Normal && state().c == id(4)));
  }
  [[nodiscard]] const textbook::State& state() const {
    return std::get<textbook::State>(node().protocol());
  }
};

World all_together(std::uint32_t nodes, const Config& like = config()) {
  return settled(nodes, like);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(textbook_elections, Node2)

BOOST_AUTO_TEST_CASE(election_goes_to_all_that_are_more_important_at_once) {
  const Node2 node;
  BOOST_TEST(sent<Election>(node.world.sent()) == (std::vector<std::uint32_t>{3, 4}));
  BOOST_TEST(node.state().s == Status::Election);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_asked_answers_and_begins_only_one_election_of_its_own) {
  member_of_4();
  const Actions first = called(1, Election{});
  BOOST_TEST(sent<Answer>(first) == std::vector<std::uint32_t>{1});
  BOOST_TEST(sent<Election>(first) == (std::vector<std::uint32_t>{3, 4}));
  const Actions second = called(1, Election{});
  BOOST_TEST(sent<Answer>(second) == std::vector<std::uint32_t>{1});
  BOOST_TEST(sent<Election>(second).empty());
}

BOOST_AUTO_TEST_CASE(the_first_timeout_makes_a_coordinator_that_tells_the_less_important) {
  unanswered(3);
  BOOST_TEST(state().s == Status::Election);
  unanswered(4);
  end_hooks();
  BOOST_TEST((state().s == Status::Normal && state().c == id(2)));
  BOOST_TEST(sent<Coordinator>(world.sent()) == std::vector<std::uint32_t>{1});
}

BOOST_AUTO_TEST_CASE(the_second_timeout_begins_the_election_anew) {
  answered(3, Here{});
  BOOST_TEST(view().procedure == Wait::AwaitingCoordinator);
  BOOST_TEST(!world.silence(2, 4));  // one Answer is enough
  expire(Timer::coordinator);
  BOOST_TEST(sent<Election>(world.sent()) == (std::vector<std::uint32_t>{3, 4, 3, 4}));
}

BOOST_AUTO_TEST_CASE(a_coordinator_message_is_not_answered) {
  BOOST_TEST(sent<Answer>(called(4, Coordinator{{7, id(4)}, {"task"}})).empty());
  end_hooks();
  BOOST_TEST(sent<Answer>(world.sent()).empty());
  BOOST_TEST(state().d->data == "task");
}

BOOST_AUTO_TEST_CASE(the_highest_that_comes_back_takes_over) {
  World cluster = all_together(4);
  cluster.fail(4);
  BOOST_REQUIRE(cluster.settle());
  BOOST_TEST(cluster.view(1).coordinator == id(3));
  cluster.recover(4);
  BOOST_REQUIRE(cluster.settle());
  for (std::uint32_t i = 1; i <= 4; ++i) BOOST_TEST(cluster.view(i).coordinator == id(4));
}

BOOST_AUTO_TEST_CASE(the_most_important_wins_by_its_score_and_of_equals_the_higher_id) {
  World cluster = all_together(4, config({{id(1), 9}, {id(2), 9}, {id(4), 3}}));
  for (std::uint32_t i = 1; i <= 4; ++i) BOOST_TEST(cluster.view(i).coordinator == id(2));
  cluster.fail(2);
  BOOST_REQUIRE(cluster.settle());
  BOOST_TEST(cluster.view(3).coordinator == id(1));
  cluster.fail(1);
  BOOST_REQUIRE(cluster.settle());
  BOOST_TEST(cluster.view(3).coordinator == id(4));
}

// Weaknesses of the textbook Bully that the paper's Bully does not have.

BOOST_AUTO_TEST_CASE(until_the_result_is_known_others_work_on_under_the_old_view) {
  member_of_4();
  called(1, Election{});
  BOOST_TEST(state().application == Activity::Working);
  BOOST_TEST(node().application.permits.has_value());
}

BOOST_AUTO_TEST_CASE(a_coordinator_message_of_the_past_is_believed) {
  member_of_4();
  called(3, Coordinator{{2, id(3)}, {"old"}});
  end_hooks();
  BOOST_TEST((state().s == Status::Normal && state().c == id(3)));
  BOOST_TEST(state().g == (GroupNumber{2, id(3)}));
}

BOOST_AUTO_TEST_CASE(two_coordinators_after_a_cut_remain_for_ever) {
  World cluster = all_together(3);
  for (std::uint32_t i : {1U, 2U}) {
    cluster.cut(i, 3);
    cluster.cut(3, i);
  }
  BOOST_TEST(cluster.settle({{id(1), id(2)}, {id(3)}}));
  for (std::uint32_t i : {1U, 2U}) cluster.reset(i, 3);
  cluster.heal();
  BOOST_TEST(!cluster.settle());
  BOOST_TEST((cluster.view(2).coordinator == id(2) && cluster.view(3).coordinator == id(3)));
}

BOOST_AUTO_TEST_SUITE_END()

// The counted messages are Election, Answer and Coordinator. The question by which a node notices
// the failure is not counted.
BOOST_AUTO_TEST_SUITE(textbook_messages)

namespace {

/// The messages of a fail-over that `first` begins when only the coordinator n is down.
std::size_t messages(std::uint32_t n, std::uint32_t first) {
  World world = all_together(n);
  world.fail(n, true);
  BOOST_REQUIRE(world.expire(first, Timer::coordinator));
  BOOST_REQUIRE(world.silence(first, n));
  // The election has begun: one Election for each higher node has just been sent.
  const std::size_t before = world.sent().size() - (n - first);
  for (bool more = true; more;) {
    world.run();
    more = false;
    for (std::uint32_t i = 1; i < n; ++i)
      if (world.view(i).procedure == Wait::Asking) more = world.silence(i, n) || more;
  }
  BOOST_REQUIRE(world.view(1).coordinator == id(n - 1));
  return world.sent().size() - before;
}

}  // namespace

BOOST_AUTO_TEST_CASE(at_best_n_less_2_and_one_for_the_dead) {
  for (std::uint32_t n = 3; n <= 9; ++n) BOOST_TEST(messages(n, n - 1) == (n - 2) + 1);
}

BOOST_AUTO_TEST_CASE(at_worst_n_squared_less_n_less_1) {
  for (std::uint32_t n = 3; n <= 9; ++n) {
    const std::size_t counted = messages(n, 1);
    BOOST_TEST(counted == n * (n - 1) / 2 + (n - 1) * (n - 2) / 2 + (n - 2));
    BOOST_TEST(counted == n * n - n - 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
