#include "sessions.hpp"

/// Nodes that are alive, but with which this node cannot speak.

namespace muster::host::test {
namespace {

const Refusal another_cluster{RefusalReason::cluster, "the clusters differ"};
const Refusal seen_elsewhere{RefusalReason::clone, "no", 5};

/// This node dials that node, which refuses this node.
Words is_refused(Sessions2& two, std::uint32_t node, std::uint64_t connection) {
  two.reaches(node, connection);
  return two.received(connection, another_cluster);
}

bool has(const Words& words, const std::string& one) {
  return std::find(words.begin(), words.end(), one) != words.end();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(nodes_that_differ, Sessions2)

BOOST_AUTO_TEST_CASE(are_those_that_refuse_it_where_it_dials_them) {
  join({.node = 1, .connection = 1});
  BOOST_TEST(has(is_refused(*this, 3, 2), "differ {3} agree {1}"));
  for (const RefusalReason reason : {RefusalReason::version, RefusalReason::stranger}) {
    Sessions2 other;
    other.reaches(3, 1);
    BOOST_TEST(has(other.received(1, Refusal{reason, "no"}), "differ {3} agree {}"));
    BOOST_TEST(other.sessions.differing.at(NodeId{3}) == "no");
  }
}

BOOST_AUTO_TEST_CASE(are_none_of_those_that_it_refuses_for_its_life) {
  for (const RefusalReason reason : {RefusalReason::outlived, RefusalReason::clone,
                                     RefusalReason::crossing, RefusalReason::oneself}) {
    Sessions2 two;
    two.reaches(3, 1);
    two.received(1, Refusal{reason, "no"});
    BOOST_TEST(two.sessions.others.differ.empty());
  }
}

BOOST_AUTO_TEST_CASE(are_those_that_have_met_this_life_elsewhere_or_a_later_one) {
  BOOST_TEST(has(refused_by(3, 1, seen_elsewhere), "differ {3} agree {}"));
}

// A Hello of the other node does not end the difference: that node may still refuse this one.
BOOST_AUTO_TEST_CASE(and_go_on_to_differ_where_they_dial_until_they_have_written) {
  refused_by(3, 1, seen_elsewhere);
  const auto dials_it = [&](std::uint64_t connection) {
    accepted(connection);
    return give_all(Came{ConnectionId{connection},
                         newcomer({.from = 3, .life = 1, .number = connection}), 100});
  };
  for (std::uint64_t connection = 2; connection < 5; ++connection) {
    BOOST_TEST(!has(dials_it(connection), "differ {} agree {}"));
    received(connection, seen_elsewhere);
    BOOST_TEST(sessions.others.differ == NodeSet{NodeId{3}});
  }
  dials_it(5);
  BOOST_TEST(has(received(5, carried({.from = 3, .number = 1, .call = 7})), "differ {} agree {}"));
}

BOOST_AUTO_TEST_CASE(are_not_believed_where_they_dial_but_dialled) {
  Hello hello = newcomer({.from = 3});
  hello.cluster = "T=50ms\nname=test\n";
  accepted(1);
  BOOST_TEST(has(received(1, hello), "dial 3"));
  BOOST_TEST(sessions.others.differ.empty());
  dialled(3, 2);
  BOOST_TEST(has(received(2, another_cluster), "differ {3} agree {}"));
}

BOOST_AUTO_TEST_CASE(
    in_the_place_of_one_with_a_session_are_not_dialled_for_what_an_unknown_peer_says) {
  join({.node = 3, .connection = 1});
  Hello hello = newcomer({.from = 3, .life = 2});
  hello.cluster = "T=50ms\nname=test\n";
  accepted(2);
  BOOST_TEST(!has(received(2, hello), "dial 3"));
  BOOST_TEST(std::holds_alternative<Connected>(sessions.peers.at(NodeId{3}).touch));
}

// Another process now answers at the address, not the one that had the earlier session.
BOOST_AUTO_TEST_CASE(end_the_session_with_their_life_before_and_leave_calls_unanswered) {
  join({.node = 3, .connection = 1});
  ask(3, 7);
  BOOST_TEST(has(closed(1), "dial 3"));
  dialled(3, 2);
  BOOST_TEST(received(2, another_cluster) ==
             (Words{"close #2", "differ {3} agree {}", "over 3:1", "unanswered 3:7"}));
}

BOOST_AUTO_TEST_CASE(are_dialled_until_they_differ_no_more) {
  is_refused(*this, 3, 1);
  BOOST_TEST(has(wake_up(), "dial 3"));
  dialled(3, 2);
  BOOST_TEST(has(received(2, newcomer({.from = 3})), "differ {} agree {}"));
  BOOST_TEST(sessions.others == OthersDiffer{});
}

BOOST_AUTO_TEST_CASE(do_so_no_more_where_nobody_listens_or_answers) {
  for (const DialEnd end : {DialEnd::refused, DialEnd::silence}) {
    Sessions2 two;
    is_refused(two, 3, 1);
    two.wake_up();
    BOOST_TEST(has(two.give_all(DialFailed{NodeId{3}, end}), "differ {} agree {}"));
  }
}

BOOST_AUTO_TEST_CASE(that_others_agree_is_told_while_one_differs) {
  is_refused(*this, 3, 1);
  reaches(1, 2);
  BOOST_TEST(has(received(2, newcomer({.from = 1})), "differ {3} agree {1}"));
  closed(2);
  BOOST_TEST(has(give_all(DialFailed{NodeId{1}, DialEnd::silence}), "differ {3} agree {}"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::host::test
