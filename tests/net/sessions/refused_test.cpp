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
  BOOST_TEST((clone.log == std::vector<std::string>{"outlived 1:1"}));
  const auto next = one.ask(2);
  UNTIL(world, one.has(TestNode::answered(2, next)));
  BOOST_TEST(two.has(TestNode::called(1, next)));
  BOOST_TEST(!clone.has(TestNode::unanswered(1, never)));
}

BOOST_AUTO_TEST_CASE(a_clone_that_answers_a_dial_is_refused_too) {
  Three net;
  {
    Outsider life(net.world, net.second);
    life.say(hello_of(3, 2, 4, 4711, 1));
    BOOST_TEST(taken(life));
  }
  UNTIL(net.world, net.two.has(TestNode::failed(3, 4)));
  Door door(net.world, net.third);
  net.two.ask(3);
  Outsider dialled = door.next();
  BOOST_TEST(taken(dialled));
  dialled.say(hello_of(3, 2, 4, 4712, 1));
  const auto refusal = dialled.hear();  // who dials has said its Hello
  BOOST_REQUIRE(refusal && std::holds_alternative<net::Refusal>(*refusal));
  BOOST_TEST((std::get<net::Refusal>(*refusal).reason == net::RefusalReason::clone));
  BOOST_TEST(std::get<net::Refusal>(*refusal).figure == 4u);
  BOOST_TEST(net.two.sessions.lives().empty());
}

BOOST_AUTO_TEST_CASE(a_node_that_has_forgotten_its_lives_is_told_so) {
  World world;
  Port first, second;
  Setting remembers;
  remembers.seen = {{NodeId{2}, Incarnation{7}}};
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

BOOST_AUTO_TEST_CASE(what_sessions_have_seen_counts_too) {
  Three net;
  {
    Outsider life(net.world, net.second);
    life.say(hello_of(3, 2, 9, 4711, 1));
    BOOST_TEST(taken(life));
  }
  Outsider wiped(net.world, net.second);
  wiped.say(hello_of(3, 2, 1, 4712, 1));
  BOOST_TEST(refused(wiped, net::RefusalReason::outlived, 9));
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

// Who was dialled in the place of a node that is down knows the cluster's text, and dials too.
BOOST_AUTO_TEST_CASE(a_later_life_of_oneself_is_refused_and_told_and_not_obeyed) {
  Three net;
  for (const std::uint64_t incarnation : {std::uint64_t{8}, highest_number}) {
    Outsider later(net.world, net.second);
    later.say(hello_of(2, 2, incarnation, 4711, 1));
    BOOST_TEST(refused(later, net::RefusalReason::clone));
    UNTIL(net.world, net.two.warned_of("another process says that it is a later life of node 2"));
  }
  net.world.settle();
  BOOST_TEST(net.two.log.empty());
}

// Whoever reaches the port can say any name.
BOOST_AUTO_TEST_CASE(a_namesake_of_another_cluster_is_refused_and_told_and_not_obeyed) {
  Three net;
  Outsider stranger(net.world, net.second);
  net::Hello hello = hello_of(2, 2, 1'000'000'000);
  hello.cluster = "name=another\n";
  stranger.say(hello);
  BOOST_TEST(refused(stranger, net::RefusalReason::cluster));
  UNTIL(net.world, net.two.warned_of("refused node 2: the clusters differ"));
  BOOST_TEST(net.two.log.empty());
}

/// Whoever listens where node 3 should, and refuses with that figure.
void answer_as_three(Three& net, std::optional<net::Hello> hello, std::uint64_t figure,
                     net::RefusalReason reason = net::RefusalReason::outlived) {
  Door door(net.world, net.third);
  net.two.sessions.greet();
  Outsider dialled = door.next();
  BOOST_TEST(taken(dialled));
  if (hello) dialled.say(*hello);
  dialled.say(net::Refusal{reason, "seen before", figure});
  UNTIL(net.world, dialled.closed());
  net.world.settle();
}

net::Hello of_a_refuser() {
  net::Hello hello = hello_of(3, 2);
  hello.session = 0;
  return hello;
}

BOOST_AUTO_TEST_CASE(a_figure_counts_after_a_hello_for_the_same_cluster_and_with_two_reasons) {
  Setting known;
  known.incarnation = 3;
  const auto heard = [&](std::optional<net::Hello> hello, std::uint64_t figure,
                         net::RefusalReason reason = net::RefusalReason::outlived) {
    Three net(known);
    answer_as_three(net, std::move(hello), figure, reason);
    BOOST_TEST(net.two.sessions.lives().empty());
    return net.two.log;
  };
  using Log = std::vector<std::string>;
  BOOST_TEST((heard(of_a_refuser(), 9) == Log{"outlived 3:9"}));
  BOOST_TEST((heard(of_a_refuser(), 3, net::RefusalReason::clone) == Log{"outlived 3:3"}));
  BOOST_TEST(heard({}, 9).empty());
  BOOST_TEST(heard({}, std::uint64_t{1} << 60).empty());
  BOOST_TEST(heard(of_a_refuser(), std::uint64_t{1} << 60).empty());
  BOOST_TEST(heard(of_a_refuser(), 2).empty());
  BOOST_TEST(heard(of_a_refuser(), 9, net::RefusalReason::busy).empty());
  net::Hello other = of_a_refuser();
  other.cluster = "name=another\n";
  BOOST_TEST(heard(other, 9).empty());
  net::Hello somebody = of_a_refuser();
  somebody.from = NodeId{1};
  BOOST_TEST(heard(somebody, 9).empty());
}

// The first life of a store is close to no figure, and believes each that leaves lives to come.
BOOST_AUTO_TEST_CASE(a_life_that_knows_none_yet_believes_any_figure) {
  for (const std::uint64_t figure : {std::uint64_t{1} << 60, highest_number}) {
    Three net;
    answer_as_three(net, of_a_refuser(), figure);
    BOOST_TEST(net.two.entries("outlived").size() == (figure < highest_number ? 1u : 0u));
  }
}

BOOST_AUTO_TEST_CASE(each_address_is_a_voice_and_the_same_one_is_dialled_slowly) {
  World world;
  Port first, second, third;
  Setting remembers;
  remembers.seen = {{NodeId{2}, Incarnation{7}}};
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
  // Said once, not with every dial.
  UNTIL(world, one.sessions.counters().dialled >= 3);
  BOOST_TEST(one.warnings.size() == 1u);
  // The other side learns it as this one did.
  two.sessions.greet();
  UNTIL(world, one.warned_of("T (2s at node 1, 50ms at node 2)"));
  BOOST_TEST(one.sessions.differing().contains(NodeId{2}));
  for (const TestNode* node : {&one, &two}) {
    BOOST_TEST(node->log.empty());
    BOOST_TEST(node->sessions.lives().empty());
  }
}

BOOST_AUTO_TEST_CASE(who_is_refused_for_its_cluster_is_told_no_value) {
  Three net;
  for (const std::uint32_t id : {0u, 1u, 2u, 3u, 77u}) {
    Outsider stranger(net.world, net.second);
    net::Hello hello = hello_of(id, 2);
    hello.cluster = "T=2s\n";
    stranger.say(hello);
    const auto answer = stranger.hear();
    BOOST_REQUIRE(answer && std::holds_alternative<net::Refusal>(*answer));
    BOOST_TEST(std::get<net::Refusal>(*answer).text == "the clusters differ");
    BOOST_TEST(!stranger.hear());
  }
  // Only of nodes of the cluster is it written down in what they differ.
  for (const auto& [id, keys] : net.two.sessions.differing())
    BOOST_TEST((id == NodeId{1} || id == NodeId{3}));
}

BOOST_AUTO_TEST_CASE(a_text_longer_than_twice_ones_own_is_not_compared) {
  Three net;
  Outsider stranger(net.world, net.second);
  net::Hello hello = hello_of(1, 2);
  hello.cluster = "a=1\nb=2\nc=3\nd=4\ne=5\nf=6\ng=7\nh=8\n";
  stranger.say(hello);
  BOOST_TEST(refused(stranger, net::RefusalReason::cluster));
  UNTIL(net.world, net.two.warned_of("a text of 32 bytes, where this node's has 15"));
}

BOOST_AUTO_TEST_SUITE_END()
