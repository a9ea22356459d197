#include "sessions.hpp"

#include <muster/values/types.hpp>

#include <algorithm>

namespace muster::host::test {
namespace {

BOOST_FIXTURE_TEST_SUITE(hello, Sessions2)

// --- Versions, clusters and certificates

BOOST_AUTO_TEST_CASE(wire_versions_that_do_not_meet_are_told_with_both_ranges) {
  Hello newer = newcomer({.from = 1});
  newer.newest_version = 4;
  BOOST_TEST(greeted(1, newer) == (Words{"write #1 Hello"}));
  newer.oldest_version = 4;
  newer.number = 2;
  BOOST_TEST(greeted(2, newer) == (Words{"write #2 Refusal version", "close #2"}));
  BOOST_TEST(std::get<Refusal>(written.back()).text ==
             "wire versions that do not meet (2-3 at node 2, 4 at node 1)");
}

BOOST_AUTO_TEST_CASE(the_newest_wire_version_that_both_speak_is_spoken_whichever_node_dials) {
  struct Pair {
    WireVersions own, other;
    std::optional<std::uint8_t> spoken;
  };
  for (const auto& [own, other, spoken] :
       {Pair{{2, 2}, {2, 3}, 2}, Pair{{2, 3}, {2, 2}, 2}, Pair{{2, 3}, {2, 3}, 3},
        Pair{{2, 4}, {1, 3}, 3}, Pair{{3, 3}, {2, 2}, {}}, Pair{{2, 2}, {3, 3}, {}},
        Pair{{2, 3}, {4, 1}, {}}}) {
    for (const bool dials : {true, false}) {
      Sessions2 two;
      two.config.self.wire = own;
      Hello hello = two.newcomer({.from = 3});
      hello.oldest_version = other.oldest;
      hello.newest_version = other.newest;
      if (dials) {
        two.reaches(3, 1);
        two.received(1, hello);
      } else {
        two.greeted(1, hello);
      }
      const auto wire = two.sessions.wire();
      BOOST_TEST_CONTEXT("own " << own << ", other " << other << ", dials " << dials) {
        BOOST_TEST(wire.contains(NodeId{3}) == spoken.has_value());
        if (spoken) BOOST_TEST(wire.at(NodeId{3}) == *spoken);
        if (const auto* said = std::get_if<Hello>(&two.written.front()))
          BOOST_TEST(wire_of(*said) == own);
        else
          BOOST_TEST(!spoken.has_value());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_others_say_is_made_fit_for_a_line) {
  Hello evil = newcomer({.from = 1});
  evil.cluster = "evil\n\x1b[31m=" + std::string(12, 'x') + "\x7f\n";
  BOOST_TEST(greeted(1, evil) == (Words{"write #1 Refusal cluster", "close #1", "dial 1"}));
  const std::string& warning = warnings.at(0);
  BOOST_TEST(warning.size() < 500u);
  BOOST_TEST(
      std::all_of(warning.begin(), warning.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

BOOST_AUTO_TEST_CASE(a_text_longer_than_twice_ones_own_is_not_compared) {
  Hello longer = newcomer({.from = 1});
  longer.cluster = std::string(2 * config.self.cluster.size() + 1, 'x');
  greeted(1, longer);
  BOOST_TEST(says(warnings.at(0), "a text of 37 bytes, where this node's has 18"));
}

BOOST_AUTO_TEST_CASE(clusters_that_differ_refuse_each_other_and_name_the_keys) {
  Hello hello = newcomer({.from = 3});
  hello.cluster = "T=50ms\ncheck=20ms\nname=test\n";
  BOOST_TEST(greeted(1, hello) == (Words{"write #1 Refusal cluster", "close #1", "dial 3"}));
  // This node names the differing keys only in its own log, not in the refusal.
  BOOST_TEST(std::get<Refusal>(written.back()).text == "the clusters differ");
  const std::string keys =
      "T (100ms at node 2, 50ms at node 3), check (nothing at node 2, 20ms at node 3)";
  BOOST_TEST(sessions.differing.at(NodeId{3}) == keys);
  BOOST_TEST(warnings.back() == "refused node 3: the clusters differ in " + keys);
  // The other node refuses each dial of this node. The log reports the first refusal only.
  for (const std::uint64_t connection : {2u, 3u}) {
    dialled(3, connection);
    received(connection, Refusal{RefusalReason::cluster, "the clusters differ"});
    BOOST_TEST(warnings.back() == "node 3 refuses this node: the clusters differ");
    BOOST_TEST(wake_up() == (Words{"dial 3"}));
  }
  BOOST_TEST(warnings.size() == 2u);
  greeted(4, newcomer({.from = 3}));
  BOOST_TEST(sessions.differing.empty());
}

// Any program that reaches the port can claim any name.
BOOST_AUTO_TEST_CASE(a_namesake_of_another_cluster_is_refused_and_not_obeyed) {
  Hello namesake = newcomer({.from = 2, .life = 1'000'000'000});
  namesake.cluster = "name=another\n";
  BOOST_TEST(greeted(1, namesake) == (Words{"write #1 Refusal cluster", "close #1"}));
  BOOST_TEST(warnings.at(0).starts_with("refused node 2: the clusters differ"));
}

/// Receives a Hello on a connection whose other side has proven by certificate that it is node
/// `node`.
Words proven_by(Sessions2& two, std::uint64_t connection, std::uint32_t node, const Hello& hello) {
  return two.give_all(Came{ConnectionId{connection}, hello, 100, NodeId{node}});
}

BOOST_AUTO_TEST_CASE(one_in_the_name_of_another_than_its_certificate_s_is_refused) {
  for (const std::uint32_t node : {0U, 1U}) {
    accepted(node + 1);
    BOOST_TEST(proven_by(*this, node + 1, node, newcomer({.from = 3})).front() ==
               "write #" + std::to_string(node + 1) + " Refusal stranger");
    BOOST_TEST(!sessions.lives().contains(NodeId{3}));
  }
  BOOST_TEST(std::get<Refusal>(written.back()).text ==
             "the peer claims to be node 3, but its certificate is for node 1");
  accepted(3);
  proven_by(*this, 3, 3, newcomer({.from = 3}));
  BOOST_TEST(sessions.lives().contains(NodeId{3}));
  // Any peer with a certificate of the cluster may observe.
  accepted(4);
  BOOST_TEST(proven_by(*this, 4, 1, observer()) == (Words{"write #4 Hello"}));
}

BOOST_AUTO_TEST_CASE(one_that_answers_in_the_name_of_another_than_its_certificate_s_is_refused) {
  ask(3, 1);
  dialled(3, 1);
  BOOST_TEST(proven_by(*this, 1, 1, newcomer({.from = 3})).front() == "write #1 Refusal stranger");
}

BOOST_AUTO_TEST_CASE(who_does_not_believe_this_node_differs_and_who_is_not_believed_is_silent) {
  for (const ConnectionEnd end : {ConnectionEnd::refused, ConnectionEnd::unproven}) {
    Sessions2 two;
    two.ask(3, 1);
    two.dialled(3, 1);
    two.closed(1, end);
    BOOST_TEST(two.sessions.differing.contains(NodeId{3}) == (end == ConnectionEnd::refused));
    BOOST_TEST(two.warnings.size() == 1u);
    // The node is dialled again, but not at once.
    BOOST_TEST(std::holds_alternative<Waiting>(two.sessions.peers.at(NodeId{3}).touch));
  }
}

BOOST_AUTO_TEST_CASE(who_dials_and_is_not_believed_is_told_of_once) {
  for (std::uint64_t connection = 1; connection < 4; ++connection) {
    accepted(connection);
    closed(connection, ConnectionEnd::unproven);
  }
  BOOST_TEST(warnings.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_oldest_observer_gives_way) {
  config.limits.observers = 2;
  greeted(1, observer());
  greeted(2, observer());
  BOOST_TEST(greeted(3, observer()) == (Words{"close #1", "write #3 Hello"}));
  BOOST_TEST(sessions.counters.crowded == 1u);
}

// --- Lives

BOOST_AUTO_TEST_CASE(what_a_session_has_seen_counts_as_what_was_in_the_store) {
  join({.node = 3, .connection = 1, .life = 9});
  BOOST_TEST(greeted(2, newcomer({.from = 3, .life = 1})).at(1) == "write #2 Refusal outlived");
  BOOST_TEST(std::get<Refusal>(written.back()).figure == 9u);
}

// If the port refuses connections, the earlier life is over. The peer that claims to be its next
// life still waits on the connection that it dialled. So this node dials the address again, and
// once more if that dial does not reach it.
BOOST_AUTO_TEST_CASE(who_says_that_it_is_the_next_life_is_dialled_when_the_one_before_is_over) {
  join({.node = 3, .connection = 1});
  BOOST_TEST(greeted(2, newcomer({.from = 3, .life = 2})) == (Words{"close #1", "dial 3"}));
  BOOST_TEST(give_all(DialFailed{NodeId{3}, DialEnd::refused}) ==
             (Words{"drain #2 listener", "over 3:1", "dial 3"}));
  BOOST_TEST(failed(3, DialEnd::silence).empty());
  BOOST_TEST(wake_up() == (Words{"dial 3"}));
  // If the port still refuses connections, no next life listens there.
  BOOST_TEST(give_all(DialFailed{NodeId{3}, DialEnd::refused}) == (Words{"drain #2 listener"}));
}

BOOST_AUTO_TEST_CASE(a_clone_that_answers_a_dial_is_refused_too) {
  join({.node = 3, .connection = 1, .life = 4});
  closed(1);
  give_all(DialFailed{NodeId{3}, DialEnd::refused});
  ask(3, 1);
  dialled(3, 2);
  Hello clone = newcomer({.from = 3, .life = 4});
  ++clone.instance;
  BOOST_TEST(received(2, clone) == (Words{"write #2 Refusal clone", "close #2"}));
  BOOST_TEST(std::get<Refusal>(written.back()).figure == 4u);
}

/// The instructions to the driver after a refusal, with that number of a life, from the address of
/// node 3.
Words heard(Sessions2 two, const Hello& hello, std::uint64_t figure,
            RefusalReason reason = RefusalReason::outlived) {
  two.ask(3, 1);
  two.dialled(3, 1);
  two.received(1, hello);
  Words words = two.received(1, Refusal{reason, "seen before", figure});
  std::erase_if(words, [](const std::string& word) { return !word.starts_with("outlived"); });
  return words;
}

BOOST_AUTO_TEST_CASE(a_figure_counts_after_a_hello_for_the_same_cluster_and_with_two_reasons) {
  BOOST_TEST(heard(*this, refuser(3), 9) == (Words{"outlived 3:9"}));
  BOOST_TEST(heard(*this, refuser(3), 5, RefusalReason::clone) == (Words{"outlived 3:5"}));
  BOOST_TEST(heard(*this, refuser(3), 9, RefusalReason::busy).empty());
  Hello other = refuser(3);
  other.cluster = "name=another\n";
  BOOST_TEST(heard(*this, other, 9).empty());
  Hello somebody = refuser(3);
  somebody.from = NodeId{1};
  BOOST_TEST(heard(*this, somebody, 9).empty());
}

// Later lives believe only a figure that is close to their own number. The first life of a store
// has no number to compare with, so it believes every figure that leaves room for further lives.
BOOST_AUTO_TEST_CASE(a_first_life_believes_any_figure) {
  config.self.incarnation = Incarnation{1};
  BOOST_TEST(heard(*this, refuser(3), std::uint64_t{1} << 60).size() == 1u);
  BOOST_TEST(heard(*this, refuser(3), highest_number).empty());
}

// --- Sessions that go on or start again

BOOST_FIXTURE_TEST_CASE(a_letter_that_comes_again_or_late_is_taken_once, WithNode3) {
  Words taken;
  for (const std::uint64_t number : {1u, 2u, 2u, 1u, 7u, 5u})
    for (const std::string& word :
         received(1, carried({.from = 3, .number = number, .call = number})))
      taken.push_back(word + ' ' + std::to_string(number));
  BOOST_TEST(taken ==
             (Words{"came 3 AreYouThere 1", "came 3 AreYouThere 2", "came 3 AreYouThere 7"}));
  BOOST_TEST(sessions.counters.duplicates == 3u);
}

BOOST_AUTO_TEST_CASE(a_call_to_another_life_than_the_present_one_is_unanswered_at_once) {
  Sessions2 before(after_meeting(3));
  BOOST_TEST(before.announce({.to = 3, .life = 2, .call = 1}) == (Words{"unanswered 3:1"}));
  Sessions2 two;
  two.join({.node = 3, .connection = 1, .life = 5});
  for (const std::uint64_t life : {3u, 4u, 6u})
    BOOST_TEST(two.announce({.to = 3, .life = life, .call = life}) ==
               (Words{"unanswered 3:" + std::to_string(life)}));
  BOOST_TEST(two.announce({.to = 3, .life = 5, .call = 9}) == (Words{"write #1 1 NewCoordinator"}));
}

BOOST_FIXTURE_TEST_CASE(who_says_that_it_received_what_was_never_sent_is_cut_off, WithNode3) {
  BOOST_TEST(greeted(2, acquainted({.from = 3, .number = 2, .received = 77})) ==
             (Words{"close #1", "close #2", "dial 3"}));
  BOOST_TEST(sessions.counters.garbage == 1u);
}

BOOST_FIXTURE_TEST_CASE(who_gave_the_session_up_is_not_told_again_what_it_was_told, WithNode3) {
  ask(3, 1);
  Hello back = newcomer({.from = 3,
                         .life = 1,
                         // node 3 does not know this node's life, since the two have had no session
                         // before
                         .number = 2});
  back.session = 2;
  BOOST_TEST(greeted(2, back) == (Words{"close #1", "write #2 Hello", "write #2 1 AreYouThere"}));
  back.number = 3;
  back.session = 3;
  back.peer_instance = config.self.instance;
  BOOST_TEST(greeted(3, back) == (Words{"close #2", "write #3 Hello"}));
  BOOST_TEST(ask(3, 2) == (Words{"write #3 1 AreYouThere"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::host::test
