#include "world.hpp"

// Who is refused, who is told what, and whose word counts.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(hello)

BOOST_AUTO_TEST_CASE(a_clone_is_refused_and_named_on_both_sides) {
  World world;
  Port first, second, elsewhere;
  TestNode one(world, 1, addresses({&first, &second}));
  TestNode two(world, 2, addresses({&first, &second}));
  TestNode clone(world, 2, addresses({&first, &elsewhere}));
  BOOST_REQUIRE(one.sessions.listen().has_value() && two.sessions.listen().has_value());
  const auto call = one.ask(2);
  UNTIL(world, one.has(TestNode::answered(2, call)));
  const auto never = clone.ask(1, 1h);
  UNTIL(world, !clone.warnings.empty());
  BOOST_TEST(clone.warned_of(
      "node 1 refuses this node: two processes say that they are incarnation 1 of node 2"));
  BOOST_TEST(one.warned_of("two processes say that they are incarnation 1 of node 2"));
  BOOST_TEST((clone.log == std::vector<std::string>{"outlived 1:1", "differing {1} agree {}"}));
  const auto next = one.ask(2);
  UNTIL(world, one.has(TestNode::answered(2, next)));
  BOOST_TEST(two.has(TestNode::called(1, next)));
  BOOST_TEST(!clone.has(TestNode::unanswered(1, never)));
}

BOOST_AUTO_TEST_CASE(a_node_that_has_forgotten_its_lives_is_told_so) {
  World world;
  Port first, second;
  Setting remembers;
  remembers.safe.seen = {{NodeId{2}, Incarnation{7}}};
  Setting forgot;
  forgot.incarnation = 3;
  TestNode one(world, 1, addresses({&first, &second}), remembers);
  BOOST_REQUIRE(one.sessions.listen().has_value());
  {
    TestNode two(world, 2, addresses({&first, &second}), forgot);
    BOOST_REQUIRE(two.sessions.listen().has_value());
    two.sessions.greet();  // it dials
    UNTIL(world, two.has("outlived 1:7"));
    BOOST_TEST(two.sessions.lives().empty());
  }
  {
    TestNode two(world, 2, addresses({&first, &second}), forgot);
    BOOST_REQUIRE(two.sessions.listen().has_value());
    one.ask(2);  // it is dialled, and dials to hear it where it is sure of the address
    UNTIL(world, two.has("outlived 1:7"));
  }
  BOOST_TEST(one.sessions.lives().empty());
  BOOST_TEST(one.warned_of("incarnation 3"));
  BOOST_TEST(one.entries("failed").empty());
}

BOOST_AUTO_TEST_CASE(a_node_that_dials_itself_is_told_so) {
  World world;
  Port first;
  TestNode one(world, 1, addresses({&first, &first}));
  BOOST_REQUIRE(one.sessions.listen().has_value());
  const auto call = one.ask(2, 1h);
  UNTIL(world, one.warned_of("the address of node 2 is its own"));
  BOOST_TEST(one.log.empty());
  BOOST_TEST(call == 1u);
}

BOOST_AUTO_TEST_CASE(each_address_is_a_voice_and_the_same_one_is_dialled_slowly) {
  World world;
  Port first, second, third;
  Setting remembers;
  remembers.safe.seen = {{NodeId{2}, Incarnation{7}}};
  TestNode one(world, 1, addresses({&first, &second, &third}), remembers);
  TestNode three(world, 3, addresses({&first, &second, &third}), remembers);
  Setting forgot;
  forgot.incarnation = 3;
  TestNode two(world, 2, addresses({&first, &second, &third}), forgot);
  BOOST_REQUIRE(one.sessions.listen().has_value() && two.sessions.listen().has_value());
  two.ask(1, 1h);
  UNTIL(world, two.count("outlived 1:7") >= 3);
  BOOST_TEST(two.sessions.counters().dialled < 6u);
  BOOST_REQUIRE(three.sessions.listen().has_value());
  two.ask(3, 1h);
  UNTIL(world, two.has("outlived 1:7 3:7"));
}

BOOST_AUTO_TEST_CASE(a_node_found_at_the_address_of_another_is_left_alone) {
  World world;
  Port first, second, third;
  TestNode one(world, 1, addresses({&first, &third, &third}));  // wrong for node 2
  TestNode three(world, 3, addresses({&first, &second, &third}));
  BOOST_REQUIRE(one.sessions.listen().has_value() && three.sessions.listen().has_value());
  const auto good = one.ask(3);
  UNTIL(world, one.has(TestNode::answered(3, good)));
  one.ask(2, 1h);
  UNTIL(world, one.warned_of("this is node 3, not node 2"));
  const auto next = one.ask(3);
  UNTIL(world, one.has(TestNode::answered(3, next)));
  BOOST_TEST(one.sessions.counters().broken == 0u);
}

BOOST_AUTO_TEST_CASE(clusters_that_differ_refuse_each_other_and_name_the_keys) {
  World world;
  Port first, second;
  Setting other;
  other.cluster = "T=50ms\ncheck=20ms\nname=test\n";
  TestNode one(world, 1, addresses({&first, &second}));
  TestNode two(world, 2, addresses({&first, &second}), other);
  BOOST_REQUIRE(one.sessions.listen().has_value() && two.sessions.listen().has_value());
  one.ask(2, 1h);
  UNTIL(world, !one.warnings.empty() && !two.warnings.empty());
  const std::string keys =
      "T (50ms at node 2, 2s at node 1), check (20ms at node 2, nothing at node 1)";
  BOOST_TEST(two.warnings.front() == "refused node 1: the clusters differ in " + keys);
  BOOST_TEST(two.sessions.differing().at(NodeId{1}) == keys);
  BOOST_TEST(one.warnings.front() == "node 2 refuses this node: the clusters differ");
  // Each dials the other, and learns it so. Said once, not with every dial.
  UNTIL(world, one.warned_of("T (2s at node 1, 50ms at node 2)"));
  BOOST_TEST(one.sessions.differing().contains(NodeId{2}));
  UNTIL(world, one.sessions.counters().dialled >= 3);
  BOOST_TEST(one.warnings.size() == 2u);
  // It lives, and answers nothing.
  BOOST_TEST(
      one.log == (std::vector<std::string>{"differing {2} agree {}", TestNode::unanswered(2, 1)}),
      boost::test_tools::per_element());
  BOOST_TEST(two.log == std::vector<std::string>{"differing {1} agree {}"},
             boost::test_tools::per_element());
  for (const TestNode* node : {&one, &two}) BOOST_TEST(node->sessions.lives().empty());
}

BOOST_AUTO_TEST_SUITE_END()
