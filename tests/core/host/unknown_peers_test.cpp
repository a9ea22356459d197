#include "sessions.hpp"

namespace muster::host::test {
namespace {

BOOST_FIXTURE_TEST_SUITE(unknown_peers, Sessions2)

BOOST_AUTO_TEST_CASE(who_says_no_hello_in_time_goes) {
  BOOST_TEST(accepted(1).empty());
  BOOST_TEST(wake == Time(2 * T));
  BOOST_TEST(wake_up() == (Words{"drain #1"}));
  BOOST_TEST(give(Drained{}) == (Words{"close #1"}));
  BOOST_TEST(sessions.counters.garbage == 1u);
}

BOOST_AUTO_TEST_CASE(the_oldest_gives_way) {
  config.limits.unknown_peers = 2;
  accepted(1);
  accepted(2);
  BOOST_TEST(accepted(3) == (Words{"close #1"}));
  BOOST_TEST(sessions.counters.crowded == 1u);
}

BOOST_AUTO_TEST_CASE(who_dials_too_often_is_closed_unread_for_a_while_and_others_are_not) {
  const auto admitted = [&](const std::string& machine, int dials) {
    int count = 0;
    for (int dial = 0; dial < dials; ++dial) count += sessions.admits(config, now, machine) ? 1 : 0;
    return count;
  };
  BOOST_TEST(admitted("10.0.0.7", 1000) == 400);
  BOOST_TEST(admitted("10.0.0.8", 3) == 3);
  BOOST_TEST(sessions.counters.crowded == 600u);
  now += 99ms;
  BOOST_TEST(admitted("10.0.0.7", 1) == 0);
  now += 1ms;
  BOOST_TEST(admitted("10.0.0.7", 1) == 1);
}

BOOST_AUTO_TEST_CASE(more_machines_than_are_told_apart_count_as_one) {
  config.limits.arrivals = 2;
  int count = 0;
  for (int machine = 0; machine < 1000; ++machine)
    count += sessions.admits(config, now, std::to_string(machine)) ? 1 : 0;
  BOOST_TEST(count == 256 + 2);
  BOOST_TEST(sessions.arrivals.size() <= 257u);
  now += 1s;
  BOOST_TEST(sessions.admits(config, now, "another"));
  BOOST_TEST(sessions.arrivals.size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_machine_takes_the_place_of_another_or_of_a_node) {
  config.limits.unknown_peers = 3;
  config.addresses[NodeId{3}] = "10.0.0.3:7103";
  const auto comes = [&](std::uint64_t connection, const char* from) {
    return give(Accepted{ConnectionId{connection}, from});
  };
  comes(1, "10.0.0.3");
  comes(2, "10.0.0.8");
  comes(3, "10.0.0.9");
  BOOST_TEST(comes(4, "10.0.0.9") == (Words{"close #3"}));
  BOOST_TEST(comes(5, "10.0.0.9") == (Words{"close #4"}));
  BOOST_TEST(comes(6, "10.0.0.10") == (Words{"close #2"}));
  config.limits.unknown_peers = 2;
  BOOST_TEST(comes(7, "10.0.0.11") == (Words{"close #5", "close #6"}));
}

// Any peer can make its connections in this order. If the node wrote to a connection that it has
// closed, the node would end.
BOOST_AUTO_TEST_CASE(an_observer_whose_connection_is_older_than_the_others_is_answered) {
  config.limits.observers = 2;
  for (std::uint64_t connection = 1; connection < 4; ++connection) accepted(connection);
  for (const std::uint64_t connection : {2u, 3u}) received(connection, observer());
  BOOST_TEST(received(1, observer()) == (Words{"close #2", "write #1 Hello"}));
}

BOOST_AUTO_TEST_CASE(without_descriptors_unknown_peers_go_and_nodes_stay) {
  join({.node = 3, .connection = 1});
  accepted(2);
  greeted(3, observer());
  BOOST_TEST(give(Exhausted{}) == (Words{"close #2", "close #3"}));
  BOOST_TEST(warnings.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_observer_is_told_the_status_as_often_as_it_asks) {
  BOOST_TEST(greeted(1, observer()) == (Words{"write #1 Hello"}));
  for (int times = 0; times < 2; ++times) {
    BOOST_TEST(received(1, StatusQuestion{}) == (Words{"status #1", "room #1"}));
    BOOST_TEST(give(Writable{ConnectionId{1}}).empty());
  }
  BOOST_TEST(received(1, newcomer({.from = 0})) == (Words{"close #1"}));
}

// If the node went on answering, unread answers would fill its memory.
BOOST_AUTO_TEST_CASE(an_observer_that_asks_again_before_its_answer_has_gone_is_closed) {
  greeted(1, observer());
  received(1, StatusQuestion{});
  BOOST_TEST(received(1, StatusQuestion{}) == (Words{"close #1"}));
  BOOST_TEST(sessions.counters.garbage == 1u);
}

// If an observer got the instance, it could continue a session of this life.
BOOST_AUTO_TEST_CASE(an_observer_does_not_learn_the_instance) {
  greeted(1, observer());
  BOOST_TEST(std::get<Hello>(written.back()).instance == 0u);
  accepted(2);
  give_all(Came{ConnectionId{2}, newcomer({.from = 3}), 100});
  BOOST_TEST(std::get<Hello>(written.back()).instance == config.self.instance);
}

BOOST_AUTO_TEST_CASE(who_asks_is_handed_over_after_its_hello_is_answered) {
  Hello asker = newcomer({.from = 3});
  asker.role = Role::asker;
  BOOST_TEST(greeted(1, asker) == (Words{"write #1 Hello", "hand over #1"}));
  BOOST_TEST(std::get<Hello>(written.back()).instance == 0u);
  BOOST_TEST(closed(1).empty());  // the sessions no longer own this connection
}

BOOST_AUTO_TEST_CASE(a_status_question_before_a_hello_is_garbage) {
  accepted(1);
  BOOST_TEST(received(1, StatusQuestion{}) == (Words{"close #1"}));
  BOOST_TEST(sessions.counters.garbage == 1u);
}

BOOST_AUTO_TEST_CASE(who_goes_on_before_its_hello_is_answered_is_closed) {
  accepted(1);
  received(1, newcomer({.from = 3}));
  BOOST_TEST(received(1, newcomer({.from = 3, .life = 1, .number = 2})) == (Words{"close #1"}));
  BOOST_TEST(give(Drained{}).empty());
}

BOOST_AUTO_TEST_CASE(hellos_to_another_node_and_of_unknown_nodes_are_refused) {
  Hello elsewhere = newcomer({.from = 3});
  elsewhere.to = NodeId{1};
  BOOST_TEST(greeted(1, elsewhere) == (Words{"write #1 Refusal stranger", "close #1"}));
  now += 2s;
  BOOST_TEST(greeted(2, newcomer({.from = 9})) == (Words{"write #2 Refusal stranger", "close #2"}));
  BOOST_TEST(warnings == (Words{"refused node 3: this is node 2, not node 1, which was dialled",
                                "refused node 9: the cluster has no node 9"}));
}

BOOST_AUTO_TEST_CASE(a_namesake_is_told_of_and_no_more) {
  Hello namesake = newcomer({.from = 2, .life = 99});
  BOOST_TEST(greeted(1, namesake) == (Words{"write #1 Refusal clone", "close #1"}));
  namesake.instance = config.self.instance;
  namesake.to = NodeId{3};
  now += 2s;
  BOOST_TEST(greeted(2, namesake) == (Words{"write #2 Refusal oneself", "close #2"}));
  BOOST_TEST(std::get<Refusal>(written.back()).text ==
             "node 2 has dialled itself: the address of node 3 is its own");
}

BOOST_AUTO_TEST_CASE(a_warning_is_not_repeated_while_nothing_changes) {
  for (std::uint64_t i = 1; i <= 5; ++i) {
    greeted(i, newcomer({.from = 9}));
    now += 2s;
  }
  BOOST_TEST(warnings.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::host::test
