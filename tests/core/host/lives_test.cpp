#include "sessions.hpp"

/// Which life of a node is believed, and what happens to a life that other nodes refuse.

namespace muster::host::test {
namespace {

BOOST_FIXTURE_TEST_SUITE(lives, Sessions2)

const Refusal met_elsewhere{RefusalReason::outlived, "seen", 9};

BOOST_FIXTURE_TEST_CASE(a_clone_is_refused, WithNode3) {
  Hello clone = newcomer({.from = 3, .life = 1, .number = 9});
  ++clone.instance;
  accepted(2);
  received(2, clone);
  // The peer believes the figure only after a Hello.
  BOOST_TEST(give_all(Drained{}) ==
             (Words{"write #2 Hello", "write #2 Refusal clone", "close #2"}));
  BOOST_TEST(std::get<Hello>(written[written.size() - 2]).session == 0u);
  BOOST_TEST(std::get<Refusal>(written.back()).figure == 1u);
  BOOST_TEST(warnings.back().starts_with(
      "refused node 3: two processes say that they are incarnation 1 of node 3"));
}

// A peer that knows only the cluster's text may claim to be an older life or another process of a
// node. The refusal must not contain this life's instance, since that peer could use the instance
// to continue this life's sessions. A peer that has met this life does get the instance, because it
// must know which life has sent the figure.
BOOST_AUTO_TEST_CASE(who_is_refused_a_life_learns_no_instance) {
  for (const std::uint64_t incarnation : {6U, 7U}) {
    Sessions2 two(after_meeting(7, 1));
    for (const bool has_met_this_life : {false, true}) {
      Hello older = two.newcomer({.from = 3, .life = incarnation});
      older.peer_instance = two.config.self.instance + (has_met_this_life ? 0 : 1);
      BOOST_TEST_REQUIRE(two.greeted(1, older).size() >= 3u);
      BOOST_TEST(std::get<Hello>(two.written[two.written.size() - 2]).instance ==
                 (has_met_this_life ? two.config.self.instance : 0u));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_life_before_the_last_one_seen_is_refused) {
  Sessions2 two(after_meeting(7));
  BOOST_TEST(two.greeted(1, two.newcomer({.from = 3, .life = 6})) ==
             (Words{"write #1 Hello", "write #1 Refusal outlived", "close #1", "dial 3"}));
  BOOST_TEST(two.warnings.back().starts_with(
      "refused node 3: node 3 says that it is incarnation 6, but 7 was seen of it"));
  BOOST_TEST(two.greeted(2, two.newcomer({.from = 3, .life = 7})) ==
             (Words{"give up 3", "write #2 Hello"}));
}

// An earlier life of this node has met that life. Now another process claims the same number.
BOOST_AUTO_TEST_CASE(a_life_that_was_met_by_an_earlier_one_is_refused_in_another_process) {
  const Hello met = Sessions2().newcomer({.from = 3, .life = 7});
  for (const std::uint64_t instance : {met.instance, met.instance + 1}) {
    Sessions2 two(after_meeting(7, instance));
    BOOST_TEST(two.greeted(1, met) ==
               (instance == met.instance
                    ? Words{"write #1 Hello"}
                    : Words{"write #1 Hello", "write #1 Refusal clone", "close #1", "dial 3"}));
  }
}

BOOST_AUTO_TEST_CASE(two_that_met_this_life_or_a_later_one_elsewhere_are_enough) {
  const auto outlived = [](LifeClaims life_claims) {
    return later_life(life_claims, Incarnation{5});
  };
  BOOST_TEST(outlived({{NodeId{1}, {5}}, {NodeId{3}, {5}}}) == Incarnation{5});
  BOOST_TEST(outlived({{NodeId{1}, {5}}, {NodeId{3}, {9}}}) == Incarnation{9});
  BOOST_TEST(!outlived({{NodeId{1}, {4}}, {NodeId{3}, {9}}}));
  BOOST_TEST(!outlived({{NodeId{3}, {9}}}));
}

BOOST_AUTO_TEST_CASE(a_life_far_ahead_is_of_another_cluster) {
  Sessions2 two(after_meeting(7));
  BOOST_TEST(two.greeted(1, two.newcomer({.from = 3, .life = 8 + most_lives_ahead})) ==
             (Words{"write #1 Refusal stranger", "close #1", "dial 3"}));
}

// If a node believed such a number, it would refuse the real node.
BOOST_AUTO_TEST_CASE(of_a_node_that_was_never_met_no_more_lives_are_believed) {
  for (const std::uint64_t life : {1 + most_lives_ahead, highest_number - 1}) {
    Sessions2 two;
    BOOST_TEST(two.greeted(1, two.newcomer({.from = 3, .life = life})) ==
               (Words{"write #1 Refusal stranger", "close #1", "dial 3"}));
    BOOST_TEST(two.warnings.back() ==
               "refused node 3: node 3 says that it is incarnation " + std::to_string(life) +
                   ", and no other one was seen of it: no node begins so many lives meanwhile");
    // The real node dials.
    BOOST_TEST(two.greeted(2, two.newcomer({.from = 3})) == (Words{"give up 3", "write #2 Hello"}));
  }
  Sessions2 two;
  BOOST_TEST(two.greeted(1, two.newcomer({.from = 3, .life = most_lives_ahead})) ==
             (Words{"write #1 Hello"}));
}

// If other nodes believed a lie about a node's lives, the node counts its lives from above 2^20. A
// node that never heard of those lives, such as one with a new store, must still accept it.
BOOST_AUTO_TEST_CASE(at_the_address_of_a_node_that_was_never_met_more_lives_are_believed) {
  for (const std::uint64_t life : {1 + most_lives_ahead, highest_number / 2}) {
    Sessions2 two;
    BOOST_TEST(two.greeted(1, two.newcomer({.from = 3, .life = life})) ==
               (Words{"write #1 Refusal stranger", "close #1", "dial 3"}));
    two.dialled(3, 2);
    two.received(2, two.newcomer({.from = 3, .life = life, .number = 2}));
    BOOST_TEST(two.sessions.lives() == (std::map{std::pair(NodeId{3}, Incarnation{life})}));
    BOOST_TEST(two.sessions.others.differ.empty());
  }
  // The node would have too few numbers left.
  Sessions2 two;
  two.reaches(3, 1);
  two.received(1, two.newcomer({.from = 3, .life = highest_number / 2 + 1}));
  BOOST_TEST(two.sessions.lives().empty());
  // This node has met node 3, and knows which numbers can follow.
  Sessions2 has_met(after_meeting(7));
  has_met.reaches(3, 1);
  has_met.received(1, has_met.newcomer({.from = 3, .life = 8 + most_lives_ahead}));
  BOOST_TEST(has_met.sessions.lives().empty());
}

// A Hello before a refusal does not contain the instance. The node must not take such a Hello for
// the Hello of another process with the same incarnation.
BOOST_AUTO_TEST_CASE(a_hello_before_a_refusal_is_not_judged_as_a_clone_s) {
  ask(1, 7);
  dialled(1, 1);
  BOOST_TEST(greeted(2, newcomer({.from = 1, .life = 4})) ==
             (Words{"write #2 Refusal crossing", "close #2"}));
  Hello before_refusal = refuser(1);
  before_refusal.incarnation = Incarnation{4};
  before_refusal.instance = 0;
  BOOST_TEST(received(1, before_refusal).empty());
  BOOST_TEST(warnings.empty());
  BOOST_TEST(received(1, met_elsewhere) ==
             (Words{"close #1", "outlived 1:9", "differ {1} agree {}"}));
}

// A Hello before a refusal begins no session. So the node waits for the refusal, even if that Hello
// comes from an earlier life, or from a life whose number is far too high.
BOOST_AUTO_TEST_CASE(a_hello_before_a_refusal_is_heard_out_whatever_life_it_is_of) {
  for (const std::uint64_t life : {std::uint64_t{6}, 8 + most_lives_ahead}) {
    Sessions2 two(after_meeting(7));
    two.reaches(3, 1);
    Hello before_refusal = two.refuser(3);
    before_refusal.incarnation = Incarnation{life};
    BOOST_TEST(two.received(1, before_refusal).empty());
    BOOST_TEST(two.received(1, met_elsewhere) ==
               (Words{"close #1", "outlived 3:9", "differ {3} agree {}"}));
    BOOST_TEST(two.sessions.peers.at(NodeId{3}).seen == Incarnation{7});
  }
}

// Two nodes come to refuse each other if, for example, other nodes have ended both and both were
// started again without a change.
BOOST_AUTO_TEST_CASE(two_that_refuse_each_other_for_their_lives_both_differ) {
  const Refusal clone_of_this{RefusalReason::clone, "no", 5};
  const Words counts{"close #2", "outlived 3:5", "differ {3} agree {}"};
  Sessions2 is_dialled(after_meeting(1, 4711));
  BOOST_TEST(is_dialled.greeted(1, is_dialled.newcomer({.from = 3})) ==
             (Words{"write #1 Hello", "write #1 Refusal clone", "close #1", "dial 3"}));
  is_dialled.dialled(3, 2);
  is_dialled.received(2, is_dialled.refuser(3));
  BOOST_TEST(is_dialled.received(2, clone_of_this) == counts);

  Sessions2 dials(after_meeting(1, 4711));
  dials.reaches(3, 2);
  dials.received(2, dials.refuser(3));
  BOOST_TEST(dials.received(2, clone_of_this) == counts);
}

// The refused node takes no part and knows the reason. This node goes on working.
BOOST_AUTO_TEST_CASE(a_life_that_is_refused_and_refuses_nobody_is_no_difference) {
  Sessions2 two(after_meeting(7));
  two.greeted(1, two.newcomer({.from = 3, .life = 6}));
  two.dialled(3, 2);
  BOOST_TEST(two.received(2, two.newcomer({.from = 3, .life = 6, .number = 2})) ==
             (Words{"write #2 Refusal outlived", "close #2"}));
  BOOST_TEST(two.sessions.others.differ.empty());
  // This node does not dial it again either.
  BOOST_TEST(std::holds_alternative<Apart>(two.sessions.peers.at(NodeId{3}).touch));
}

BOOST_AUTO_TEST_CASE(a_figure_counts_after_a_hello_and_where_this_node_has_dialled) {
  reaches(3, 1);
  BOOST_TEST(received(1, met_elsewhere) == (Words{"close #1"}));
  // This node ignores a refusal on a connection that the other side dialled. So this node dials the
  // other side, to hear the refusal on a connection of its own.
  greeted(2, newcomer({.from = 3}));
  BOOST_TEST(received(2, met_elsewhere) == (Words{"close #2"}));
  BOOST_TEST(wake_up() == (Words{"dial 3"}));
  const Words counts{"close #3", "outlived 3:9", "differ {3} agree {}"};
  BOOST_TEST(refused_by(3, 3, met_elsewhere) == counts);
}

BOOST_AUTO_TEST_CASE(each_address_makes_one_claim) {
  for (const std::uint64_t connection : {1u, 2u})
    BOOST_TEST(refused_by(3, connection, met_elsewhere).at(1) == "outlived 3:9");
  BOOST_TEST(refused_by(1, 3, met_elsewhere).at(1) == "outlived 1:9 3:9");
}

BOOST_AUTO_TEST_CASE(a_figure_that_this_life_cannot_be_close_to_is_none) {
  for (const std::uint64_t figure : {std::uint64_t{4}, 6 + most_lives_ahead}) {
    Sessions2 two;
    BOOST_TEST(two.refused_by(3, 1, {RefusalReason::outlived, "seen", figure}) ==
               (Words{"close #1", "differ {3} agree {}"}));
    BOOST_TEST(two.sessions.life_claims.empty());
    // At the address that this node dials, the other node still counts as differing.
    BOOST_TEST(two.greeted(2, two.newcomer({.from = 3, .life = 1, .number = 2})) ==
               (Words{"write #2 Hello"}));
    BOOST_TEST(two.sessions.others.differ == NodeSet{NodeId{3}});
  }
}

BOOST_AUTO_TEST_CASE(a_peer_that_accepts_this_life_after_all_makes_no_claim_any_more) {
  refused_by(3, 1, met_elsewhere);
  BOOST_TEST(sessions.life_claims.size() == 1u);
  wake_up();
  dialled(3, 2);
  received(2, newcomer({.from = 3, .life = 1, .number = 2}));
  BOOST_TEST(sessions.life_claims.empty());
}

// This happens if a firewall refuses this node's dial although the other life works.
BOOST_AUTO_TEST_CASE(a_session_that_the_other_side_has_ended_begins_under_the_count_that_was_said) {
  join({.node = 3, .connection = 1});
  closed(1);
  dialled(3, 2);
  Hello ended = acquainted({.from = 3, .number = 2, .received = 0});
  ended.session = 2;
  received(2, ended);
  closed(2);
  dialled(3, 3);
  const Hello& again = std::get<Hello>(written.back());
  BOOST_TEST(again.session == 1u);
  BOOST_TEST(again.peer_session == 2u);
}

BOOST_AUTO_TEST_CASE(who_answers_in_the_place_of_another_is_refused) {
  ask(3, 1);
  dialled(3, 1);
  BOOST_TEST(
      received(1, newcomer({.from = 1})) ==
      (Words{"write #1 Refusal stranger", "close #1", "differ {3} agree {}", "unanswered 3:1"}));
  BOOST_TEST(warnings.back() ==
             "refused node 3: node 1 answers at three:3, where node 3 should be");
}

BOOST_AUTO_TEST_CASE(who_answers_with_a_hello_to_another_node_is_refused) {
  ask(3, 1);
  dialled(3, 1);
  Hello to_another = newcomer({.from = 3});
  to_another.to = NodeId{1};
  BOOST_TEST(received(1, to_another) == (Words{"write #1 Refusal stranger", "close #1",
                                               "differ {3} agree {}", "unanswered 3:1"}));
  BOOST_TEST(warnings.back() ==
             "refused node 3: node 3 says its Hello to node 1, and this is node 2");
}

// --- Calls do not speed up a dial that was refused by a Hello
BOOST_AUTO_TEST_CASE(a_node_that_is_not_welcome_is_dialled_again_when_its_time_comes) {
  ask(3, 1);
  dialled(3, 1);
  received(1, Refusal{RefusalReason::cluster, "the clusters differ"});
  BOOST_TEST(ask(3, 2).empty());
  BOOST_TEST(wake_up() == (Words{"dial 3"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::host::test
