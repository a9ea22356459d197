#include "sessions.hpp"

namespace muster::host::test {
namespace {

BOOST_FIXTURE_TEST_SUITE(proofs, Sessions2)

// --- Refused

BOOST_AUTO_TEST_CASE(a_connection_that_ends_proves_nothing_and_a_refused_dial_proves_all) {
  join({.node = 3, .connection = 1});
  received(1, carried({.from = 3, .number = 1, .call = 9}));
  BOOST_TEST(closed(1) == (Words{"dial 3"}));
  BOOST_TEST(failed(3, DialEnd::refused) == (Words{"drain listener"}));
  BOOST_TEST(give(Drained{}) == (Words{"over 3:1"}));
}

BOOST_AUTO_TEST_CASE(a_life_that_was_never_heard_has_not_failed) {
  give(Greet{});
  BOOST_TEST(give_all(DialFailed{NodeId{3}, DialEnd::refused}) == (Words{"drain listener"}));
}

BOOST_FIXTURE_TEST_CASE(a_reset_dial_proves_nothing_and_is_made_again_at_once, WithNode3) {
  received(1, carried({.from = 3, .number = 1, .call = 9}));
  closed(1);
  BOOST_TEST(failed(3, DialEnd::reset).empty());
  BOOST_TEST(wake == Time(200us));
  BOOST_TEST(wake_up() == (Words{"dial 3"}));
  failed(3, DialEnd::reset);
  BOOST_TEST(wake.value() - now == Duration(400us));
}

BOOST_AUTO_TEST_CASE(where_connections_break_over_and_over_a_call_gets_many_of_them) {
  const auto longest_delay = [](bool called) {
    Sessions2 two;
    two.join({.node = 3, .connection = 1});
    if (called) two.ask(3, 1);
    two.closed(1);
    Duration longest{};
    for (int broken = 0; broken < 20; ++broken) {
      two.failed(3, DialEnd::reset);
      longest = std::max(longest, two.wake.value() - two.now);
      two.wake_up();
    }
    return longest;
  };
  BOOST_TEST(longest_delay(true) == T / 64);
  BOOST_TEST(longest_delay(false) == T / 4);
}

BOOST_FIXTURE_TEST_CASE(silence_is_dialled_again_ever_more_slowly, WithNode3) {
  closed(1);
  for (const Duration delay : {T / 8, T / 4, T / 2, T / 2}) {
    BOOST_TEST(failed(3, DialEnd::silence).empty());
    BOOST_TEST(wake.value() - now == delay);
    BOOST_TEST(wake_up() == (Words{"dial 3"}));
  }
}

BOOST_AUTO_TEST_CASE(without_proofs_a_refused_dial_is_silence) {
  config.limits.proofs = false;
  join({.node = 3, .connection = 1});
  ask(3, 1);
  closed(1);
  BOOST_TEST(failed(3, DialEnd::refused).empty());
  BOOST_TEST(wake.value() - now == T / 8);
  BOOST_TEST(sessions.lives().at(NodeId{3}) == Incarnation{1});
}

BOOST_AUTO_TEST_CASE(nobody_is_dialled_for_whom_nothing_waits) {
  ask(3, 1);
  sessions.keep_only([](CallNumber) { return false; });
  BOOST_TEST(failed(3, DialEnd::silence).empty());
  BOOST_TEST(!wake.has_value());
}

BOOST_AUTO_TEST_CASE(a_refused_dial_answers_no_call_that_was_made_after_it) {
  BOOST_TEST(ask(3, 1) == (Words{"dial 3"}));
  BOOST_TEST(ask(3, 2).empty());
  BOOST_TEST(give_all(DialFailed{NodeId{3}, DialEnd::refused}) ==
             (Words{"drain listener", "unanswered 3:1", "dial 3"}));
  BOOST_TEST(give_all(DialFailed{NodeId{3}, DialEnd::refused}) ==
             (Words{"drain listener", "unanswered 3:2"}));
}

// When this node's dial is refused, the Hello of a new life may already have arrived.
BOOST_AUTO_TEST_CASE(who_says_hello_while_a_refusal_is_judged_is_not_over) {
  ask(3, 1);
  accepted(1);
  BOOST_TEST(failed(3, DialEnd::refused) == (Words{"drain #1 listener"}));
  BOOST_TEST(received(1, newcomer({.from = 3})) == (Words{"drain #1"}));
  BOOST_TEST(give(Drained{}) == (Words{"write #1 Hello", "write #1 1 AreYouThere"}));
  BOOST_TEST(give(Drained{}).empty());
}

BOOST_AUTO_TEST_CASE(calls_to_a_life_that_is_over_are_unanswered_and_those_to_the_node_go_on) {
  join({.node = 3, .connection = 1});
  received(1, carried({.from = 3, .number = 1, .call = 9}));
  announce({.to = 3, .life = 1, .call = 1});
  ask(3, 2);
  accepted(2);
  BOOST_TEST(received(2, newcomer({.from = 3, .life = 2})) == (Words{"drain #2 #1"}));
  BOOST_TEST(give(Drained{}) == (Words{"close #1", "dial 3"}));
  dialled(3, 3);
  BOOST_TEST(received(3, newcomer({.from = 3, .life = 2, .number = 2})) ==
             (Words{"over 3:1", "unanswered 3:1", "write #3 1 AreYouThere"}));
  BOOST_TEST(announce({.to = 3, .life = 1, .call = 3}) == (Words{"unanswered 3:3"}));
}

// Any peer may claim to be the next life of a node. So this node dials the node's address, and the
// working life answers there.
BOOST_AUTO_TEST_CASE(who_says_that_it_is_the_next_life_of_a_node_that_works_is_not_believed) {
  join({.node = 3, .connection = 1});
  BOOST_TEST(greeted(2, newcomer({.from = 3, .life = 2})) == (Words{"close #1", "dial 3"}));
  BOOST_TEST(greeted(3, newcomer({.from = 3, .life = 9})).empty());
  dialled(3, 4);
  BOOST_TEST(received(4, acquainted({.from = 3, .number = 2, .received = 0})).empty());
  BOOST_TEST(sessions.lives().at(NodeId{3}) == Incarnation{1});
  // Further claims do not make this node open further connections.
  BOOST_TEST(greeted(5, newcomer({.from = 3, .life = 2})).empty());
  now += T / 8;
  wake_up();
  BOOST_TEST(greeted(6, newcomer({.from = 3, .life = 2})) == (Words{"close #4", "dial 3"}));
}

// A firewall may block this node's dials, and let only those of the other side through.
BOOST_FIXTURE_TEST_CASE(where_dials_find_silence_who_dials_is_believed, WithNode3) {
  greeted(2, newcomer({.from = 3, .life = 2}));
  failed(3, DialEnd::silence);
  BOOST_TEST(greeted(3, newcomer({.from = 3, .life = 2, .number = 2})) ==
             (Words{"over 3:1", "write #3 Hello"}));
}

BOOST_FIXTURE_TEST_CASE(what_a_life_said_comes_before_its_end, WithNode3) {
  announce({.to = 3, .life = 1, .call = 1});
  accepted(2);
  received(2, newcomer({.from = 3, .life = 2}));
  BOOST_TEST(received(1, carried({.from = 3,
                                  .number = 1,
                                  .call = 1,
                                  .message = Answer{Installed{}},
                                  .acknowledged = 1})) == (Words{"came 3 Installed"}));
  give(Drained{});
  dialled(3, 3);
  BOOST_TEST(received(3, newcomer({.from = 3, .life = 2, .number = 2})) == (Words{"over 3:1"}));
}

// The answers of a life come before its end, even if an answer is still unread on another
// connection, over which the session was about to continue.
BOOST_FIXTURE_TEST_CASE(what_a_life_said_behind_its_hello_comes_before_its_end, WithNode3) {
  announce({.to = 3, .life = 1, .call = 1});
  closed(1);
  dialled(3, 2);
  accepted(3);
  BOOST_TEST(received(3, newcomer({.from = 3, .life = 2})) == (Words{"drain #3 #2"}));
  received(2, acquainted({.from = 3, .number = 2, .received = 1}));
  BOOST_TEST(received(2, carried({.from = 3,
                                  .number = 1,
                                  .call = 1,
                                  .message = Answer{Installed{}},
                                  .acknowledged = 1})) == (Words{"came 3 Installed"}));
  BOOST_TEST(give(Drained{}) == (Words{"close #2", "dial 3"}));
}

// A firewall that rejects connections makes a living node look dead. This node has ended the
// session, but the other side still has it.
BOOST_FIXTURE_TEST_CASE(a_life_that_was_taken_for_dead_begins_a_new_session, WithNode3) {
  received(1, carried({.from = 3, .number = 1, .call = 9}));
  closed(1);
  give_all(DialFailed{NodeId{3}, DialEnd::refused});
  BOOST_TEST(greeted(2, acquainted({.from = 3, .number = 2, .received = 0})) ==
             (Words{"write #2 Hello"}));
  BOOST_TEST(std::get<Hello>(written.back()).session == 2u);
  // The sessions do not report the end of this life a second time, since they have heard nothing
  // from it since the first report.
  closed(2);
  BOOST_TEST(give_all(DialFailed{NodeId{3}, DialEnd::refused}) == (Words{"drain listener"}));
}

// --- Silence

BOOST_FIXTURE_TEST_CASE(before_a_call_is_unanswered_all_is_read, WithNode3) {
  ask(3, 1, T);
  ask(3, 2, T);
  BOOST_TEST(wake_up() == (Words{"drain #1"}));
  BOOST_TEST(
      received(
          1,
          carried(
              {.from = 3, .number = 1, .call = 1, .message = Answer{Here{}}, .acknowledged = 2})) ==
      (Words{"came 3 Here"}));
  BOOST_TEST(give(Drained{}) == (Words{"unanswered 3:2"}));
  BOOST_TEST(
      received(
          1, carried(
                 {.from = 3, .number = 2, .call = 2, .message = Answer{Here{}}, .acknowledged = 2}))
          .empty());
}

BOOST_AUTO_TEST_CASE(who_does_not_answer_a_hello_in_time_is_dialled_anew) {
  ask(3, 1);
  dialled(3, 1);
  BOOST_TEST(wake_up() == (Words{"drain #1"}));
  BOOST_TEST(give(Drained{}) == (Words{"close #1"}));
  BOOST_TEST(wake_up() == (Words{"dial 3"}));
}

BOOST_AUTO_TEST_CASE(a_hello_that_came_in_time_counts_though_it_is_read_late) {
  ask(3, 1);
  dialled(3, 1);
  wake_up();
  BOOST_TEST(received(1, newcomer({.from = 3})) == (Words{"write #1 1 AreYouThere"}));
  BOOST_TEST(give(Drained{}).empty());
}

// --- Two dials that cross

BOOST_AUTO_TEST_CASE(of_two_connections_that_cross_the_one_that_the_higher_id_dialled_stays) {
  Sessions2 higher;
  higher.ask(1, 1);
  higher.dialled(1, 1);
  BOOST_TEST(higher.greeted(2, higher.newcomer({.from = 1})) ==
             (Words{"write #2 Refusal crossing", "close #2"}));
  BOOST_TEST(higher.received(1, higher.newcomer({.from = 1, .life = 1, .number = 2})) ==
             (Words{"write #1 1 AreYouThere"}));

  Sessions2 lower;
  lower.ask(3, 1);
  lower.dialled(3, 1);
  BOOST_TEST(lower.greeted(2, lower.newcomer({.from = 3})) ==
             (Words{"close #1", "write #2 Hello", "write #2 1 AreYouThere"}));
}

// Perhaps this node's own dial went to a machine that stopped silently, and the other dial comes
// from the next life.
BOOST_AUTO_TEST_CASE(who_comes_again_while_ours_is_not_answered_is_taken) {
  Sessions2 higher;
  higher.ask(1, 1);
  higher.dialled(1, 1);
  for (const std::uint64_t connection : {2u, 3u}) {
    BOOST_TEST(
        higher.greeted(connection, higher.newcomer({.from = 1, .life = 1, .number = connection})) ==
        (connection == 2 ? Words{"write #2 Refusal crossing", "close #2"}
                         : Words{"close #1", "write #3 Hello", "write #3 1 AreYouThere"}));
  }
}

BOOST_AUTO_TEST_CASE(an_accepted_hello_ends_a_dial_that_is_out) {
  ask(3, 1);
  BOOST_TEST(greeted(1, newcomer({.from = 3})) ==
             (Words{"give up 3", "write #1 Hello", "write #1 1 AreYouThere"}));
}

BOOST_FIXTURE_TEST_CASE(a_hello_that_is_older_than_one_taken_is_not_taken, WithNode3) {
  BOOST_TEST(greeted(2, newcomer({.from = 3, .life = 1, .number = 2})) ==
             (Words{"close #1", "write #2 Hello"}));
  BOOST_TEST(greeted(3, newcomer({.from = 3, .life = 1, .number = 1})) == (Words{"close #3"}));
}

BOOST_AUTO_TEST_CASE(who_has_gone_before_its_hello_is_judged_is_not_taken) {
  ask(3, 1);
  accepted(1);
  received(1, newcomer({.from = 3}));
  BOOST_TEST(closed(1).empty());
  BOOST_TEST(give(Drained{}).empty());
  BOOST_TEST(!sessions.peers.at(NodeId{3}).session.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::host::test
