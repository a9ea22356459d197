#include "sessions.hpp"

#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

namespace muster::host::test {
namespace {

BOOST_FIXTURE_TEST_SUITE(session_letters, Sessions2)

BOOST_AUTO_TEST_CASE(a_new_life_dials_every_other_node_and_says_hello_first) {
  BOOST_TEST(give(Greet{}) == (Words{"dial 1", "dial 3"}));
  BOOST_TEST(dialled(3, 1) == (Words{"write #1 Hello"}));
  BOOST_TEST(ask(3, 1).empty());  // no letter is sent before the Hello is answered
  BOOST_TEST(received(1, newcomer({.from = 3})) == (Words{"write #1 1 AreYouThere"}));
}

BOOST_FIXTURE_TEST_CASE(an_answer_comes_once, WithNode3) {
  BOOST_TEST(ask(3, 7) == (Words{"write #1 1 AreYouThere"}));
  const Carried answer =
      carried({.from = 3, .number = 1, .call = 7, .message = Answer{Here{}}, .acknowledged = 1});
  BOOST_TEST(received(1, answer) == (Words{"came 3 Here"}));
  BOOST_TEST(received(1, answer).empty());  // the same letter again
  BOOST_TEST(
      received(
          1, carried(
                 {.from = 3, .number = 2, .call = 7, .message = Answer{Here{}}, .acknowledged = 1}))
          .empty());
  BOOST_TEST(sessions.counters.duplicates == 1u);
}

BOOST_AUTO_TEST_CASE(a_call_to_a_node_that_the_cluster_does_not_have_is_unanswered) {
  BOOST_TEST(ask(9, 1) == (Words{"unanswered 9:1"}));
  BOOST_TEST(ask(2, 2) == (Words{"unanswered 2:2"}));  // a node does not call itself
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_node_is_none) {
  join({.node = 1, .connection = 1});
  join({.node = 3, .connection = 2});
  ask(3, 7);
  BOOST_TEST(
      received(1, carried({.from = 1, .number = 1, .call = 7, .message = Answer{Here{}}})).empty());
  BOOST_TEST(
      received(
          2,
          carried(
              {.from = 3, .number = 1, .call = 7, .message = Answer{Here{}}, .acknowledged = 1})) ==
      (Words{"came 3 Here"}));
}

BOOST_FIXTURE_TEST_CASE(what_is_not_acknowledged_goes_again_over_the_next_connection, WithNode3) {
  ask(3, 1);
  ask(3, 2);
  ask(3, 3);
  BOOST_TEST(closed(1) == (Words{"dial 3"}));
  dialled(3, 2);
  const Hello said = std::get<Hello>(written.back());
  BOOST_TEST(said.session == 1u);
  BOOST_TEST(said.peer_session == 1u);
  BOOST_TEST(received(2, acquainted({.from = 3, .number = 2, .received = 2})) ==
             (Words{"write #2 3 AreYouThere"}));
  BOOST_TEST(sessions.counters.resent == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_call_that_was_given_up_is_not_sent_again, WithNode3) {
  ask(3, 1);
  ask(3, 2);
  closed(1);
  sessions.keep_only([](CallNumber call) { return call == CallNumber{2}; });
  dialled(3, 2);
  BOOST_TEST(received(2, acquainted({.from = 3, .number = 2, .received = 0})) ==
             (Words{"write #2 2 AreYouThere"}));
  BOOST_TEST(
      received(
          2, carried(
                 {.from = 3, .number = 1, .call = 1, .message = Answer{Here{}}, .acknowledged = 2}))
          .empty());
}

BOOST_FIXTURE_TEST_CASE(an_answer_goes_to_the_life_that_called_or_nowhere, WithNode3) {
  BOOST_TEST(answer(3, 9).empty());  // no node has asked
  BOOST_TEST(received(1, carried({.from = 3, .number = 1, .call = 9})) ==
             (Words{"came 3 AreYouThere"}));
  BOOST_TEST(answer(3, 9) == (Words{"write #1 1 Here"}));
  BOOST_TEST(answer(3, 9).empty());

  received(1, carried({.from = 3, .number = 2, .call = 10}));
  greeted(9, newcomer({.from = 3, .life = 2}));  // of node 3's next life, which is then dialled
  dialled(3, 2);
  received(2, newcomer({.from = 3, .life = 2, .number = 2}));
  BOOST_TEST(answer(3, 10).empty());
  received(2, carried({.from = 3, .number = 1, .call = 10, .life = 2}));
  BOOST_TEST(answer(3, 10) == (Words{"write #2 1 Here"}));
}

BOOST_AUTO_TEST_CASE(letters_of_another_life_or_to_another_node_end_the_connection) {
  for (const bool other_life : {true, false}) {
    Sessions2 two;
    two.join({.node = 3, .connection = 1});
    Carried wrong = carried({.from = 3, .number = 1, .call = 9, .life = other_life ? 2U : 1U});
    if (!other_life) wrong.letter.to = NodeId{1};
    BOOST_TEST(two.received(1, wrong) == (Words{"close #1", "dial 3"}));
    BOOST_TEST(two.sessions.counters.garbage == 1u);
  }
}

// The false numbers are far too high. If the node kept them, it would ignore the sender's true
// letters for the rest of its life.
BOOST_AUTO_TEST_CASE(letters_that_name_another_than_their_sender_end_the_connection) {
  const Incarnation far{highest_number - 1};
  for (const Message& lie :
       {Message{Halt{{NodeId{3}, far, 1}}}, Message{Halt{{NodeId{1}, Incarnation{1}, 1}}},
        Message{NewCoordinator{{NodeId{3}, Incarnation{1}, 1}, Incarnation{5}, {1, NodeId{1}}}},
        Message{invitation::Accept{{1, NodeId{3}}, {}, {}}},
        Message{textbook::Coordinator{{1, NodeId{1}}, {}}}}) {
    WithNode3 two;
    BOOST_TEST(two.received(1, carried({.from = 3, .number = 1, .call = 9, .message = lie})) ==
               (Words{"close #1", "dial 3"}));
    BOOST_TEST(two.sessions.counters.garbage == 1u);
    BOOST_TEST(two.warnings.back() ==
               "node 3: sent a letter whose message contradicts its envelope: it names another "
               "sender or receiver, or another life of one");
    // The true letter with that number is accepted.
    two.dialled(3, 2);
    two.received(2, two.acquainted({.from = 3, .number = 2, .received = 0}));
    BOOST_TEST(two.received(2, carried({.from = 3,
                                        .number = 1,
                                        .call = 9,
                                        .message = Halt{{NodeId{3}, Incarnation{1}, 1}}})) ==
               (Words{"came 3 Halt"}));
  }
}

BOOST_FIXTURE_TEST_CASE(who_acknowledges_what_was_never_sent_is_not_believed, WithNode3) {
  ask(3, 1);
  BOOST_TEST(received(1, Acknowledged{2}) == (Words{"close #1", "dial 3"}));
}

BOOST_FIXTURE_TEST_CASE(what_nobody_answers_is_acknowledged_after_a_while, WithNode3) {
  Words words;
  for (std::uint64_t i = 1; i <= 32; ++i)
    words = received(1, carried({.from = 3, .number = i, .call = i}));
  BOOST_TEST(words == (Words{"came 3 AreYouThere", "write #1 Acknowledged"}));
  BOOST_TEST(std::get<Acknowledged>(written.back()).number == 32u);
}

BOOST_AUTO_TEST_CASE(a_connection_takes_no_more_than_enough_at_a_time) {
  config.limits.queue_letters = 100000;
  join({.node = 3, .connection = 1});
  std::uint64_t call = 0;
  Words words;
  while (words.size() < 2) words = ask(3, ++call);
  BOOST_TEST(words.back() == "room #1");
  BOOST_TEST(ask(3, ++call).empty());
  BOOST_TEST(give(Writable{ConnectionId{1}}) ==
             (Words{"write #1 " + std::to_string(call) + " AreYouThere"}));
}

BOOST_AUTO_TEST_CASE(what_finds_no_room_is_dropped_and_said_once) {
  config.limits.queue_letters = 3;
  join({.node = 3, .connection = 1});
  for (std::uint64_t call = 1; call <= 5; ++call) ask(3, call);
  BOOST_TEST(sessions.counters.dropped == 2u);
  BOOST_TEST(warnings.size() == 1u);
  // The session drops letters of calls that no procedure awaits, so there is room for others.
  sessions.keep_only([](CallNumber call) { return call == CallNumber{1}; });
  BOOST_TEST(ask(3, 6) == (Words{"write #1 4 AreYouThere"}));
}

BOOST_FIXTURE_TEST_CASE(a_letter_that_no_frame_holds_is_unanswered_with_a_sentence, WithNode3) {
  Ready ready;
  ready.receiver = Incarnation{1};
  const Letter letter{NodeId{2}, Incarnation{5}, NodeId{3}, CallNumber{1}, ready};
  BOOST_TEST(give(SendLetter{letter, T, frame_limit}) == (Words{"unanswered 3:1"}));
  BOOST_TEST(warnings.size() == 1u);
}

// Sessions are values: a copy goes on exactly like its original.
BOOST_FIXTURE_TEST_CASE(sessions_can_be_copied_compared_hashed_and_printed, WithNode3) {
  ask(3, 1, T);
  Sessions2 copy = *this;
  BOOST_TEST(copy.sessions == sessions);
  BOOST_TEST(hash(copy.sessions) == hash(sessions));
  BOOST_TEST(copy.closed(1) == closed(1));
  BOOST_TEST(copy.sessions == sessions);
  copy.ask(1, 2);
  BOOST_TEST(copy.sessions != sessions);
  BOOST_TEST(hash(copy.sessions) != hash(sessions));
  BOOST_TEST(says(to_text(copy.sessions), "Dialling"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::host::test
