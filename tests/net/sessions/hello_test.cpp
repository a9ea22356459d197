#include "world.hpp"

// Who may say Hello, and which connection stays.

using namespace sessions_test;

BOOST_AUTO_TEST_SUITE(hello)

BOOST_AUTO_TEST_CASE(dials_that_cross_leave_one_connection_and_lose_nothing) {
  for (int round = 0; round < 200; ++round) {
    World world;
    Port first, second;
    TestNode one(world, 1, addresses({&first, &second}));
    TestNode two(world, 2, addresses({&first, &second}));
    BOOST_REQUIRE(one.sessions.listen().has_value() && two.sessions.listen().has_value());
    one.ask(2);
    world.context.restart();
    for (int turn = 0; turn < round % 20; ++turn) world.context.poll_one();
    two.ask(1);
    one.ask(2);
    UNTIL(world, one.log.size() == 3 && two.log.size() == 3);
    BOOST_TEST(one.entries("answer").size() == 2u);
    BOOST_TEST(two.entries("answer").size() == 1u);
    BOOST_TEST(one.sessions.counters().sessions == 1u);
    BOOST_TEST(two.sessions.counters().sessions == 1u);
    BOOST_TEST(one.sessions.counters().duplicates + two.sessions.counters().duplicates == 0u);
  }
}

BOOST_AUTO_TEST_CASE(of_two_that_cross_the_higher_keeps_its_own) {
  Three net;
  Door door(net.world, net.first);
  const auto call = net.two.ask(1);
  Outsider dialled = door.next();
  BOOST_TEST(taken(dialled));
  Outsider crossing(net.world, net.second);
  crossing.say(hello_of(1, 2, 1, 4711, 1));
  BOOST_TEST(refused(crossing, net::RefusalReason::crossing));
  dialled.say(hello_of(1, 2, 1, 4711, 2));
  const auto letter = dialled.hear();
  BOOST_REQUIRE(letter);
  BOOST_TEST(std::get<net::Carried>(*letter).letter.call.value == call);
}

BOOST_AUTO_TEST_CASE(of_two_that_cross_the_lower_gives_its_own_up) {
  Three net;
  Door door(net.world, net.third);
  const auto call = net.two.ask(3);
  Outsider dialled = door.next();
  BOOST_TEST(taken(dialled));
  Outsider crossing(net.world, net.second);
  crossing.say(hello_of(3, 2, 1, 4711, 1));
  BOOST_TEST(taken(crossing));
  const auto letter = crossing.hear();
  BOOST_REQUIRE(letter);
  BOOST_TEST(std::get<net::Carried>(*letter).letter.call.value == call);
  BOOST_TEST(!dialled.hear().has_value());
}

BOOST_AUTO_TEST_CASE(a_new_hello_of_the_same_life_takes_the_place_of_a_connection_half_open) {
  Three net;
  Outsider before(net.world, net.second);
  before.say(hello_of(3, 2, 1, 4711, 1));
  BOOST_TEST(taken(before));
  const auto call = net.two.ask(3);
  BOOST_TEST(before.hear().has_value());

  Outsider after(net.world, net.second);
  after.say(hello_of(3, 2, 1, 4711, 2));
  BOOST_TEST(taken(after));
  const auto again = after.hear();
  BOOST_REQUIRE(again);
  BOOST_TEST(std::get<net::Carried>(*again).letter.call.value == call);
  BOOST_TEST(!before.hear().has_value());
  BOOST_TEST(net.two.log.empty());
  BOOST_TEST(net.two.sessions.counters().resent == 1u);
}

BOOST_AUTO_TEST_CASE(what_the_other_side_has_received_is_not_sent_again) {
  Three net;
  Outsider before(net.world, net.second);
  before.say(hello_of(3, 2, 1, 4711, 1));
  const auto first = before.hear();
  BOOST_REQUIRE(first);
  net.two.ask(3);
  const auto second_call = net.two.ask(3);
  BOOST_TEST(before.hear().has_value());

  Outsider after(net.world, net.second);
  net::Hello hello = hello_of(3, 2, 1, 4711, 2);
  hello.peer_instance = std::get<net::Hello>(*first).instance;
  hello.peer_session = 1;
  hello.received = 1;
  after.say(hello);
  BOOST_TEST(taken(after));
  const auto rest = after.hear();
  BOOST_REQUIRE(rest);
  BOOST_TEST(std::get<net::Carried>(*rest).number == 2u);
  BOOST_TEST(std::get<net::Carried>(*rest).letter.call.value == second_call);
}

BOOST_AUTO_TEST_CASE(who_says_that_it_received_what_was_never_sent_is_cut_off) {
  Three net;
  Outsider before(net.world, net.second);
  before.say(hello_of(3, 2, 1, 4711, 1));
  const auto first = before.hear();
  BOOST_REQUIRE(first);
  Outsider after(net.world, net.second);
  net::Hello hello = hello_of(3, 2, 1, 4711, 2);
  hello.peer_instance = std::get<net::Hello>(*first).instance;
  hello.peer_session = 1;
  hello.received = 77;
  after.say(hello);
  BOOST_TEST(!after.hear().has_value());
  BOOST_TEST(net.two.sessions.counters().garbage == 1u);
}

BOOST_AUTO_TEST_CASE(a_hello_that_was_long_on_its_way_changes_nothing) {
  Three net;
  Outsider present(net.world, net.second);
  present.say(hello_of(3, 2, 1, 4711, 5));
  BOOST_TEST(taken(present));
  Outsider late(net.world, net.second);
  late.say(hello_of(3, 2, 1, 4711, 4));
  BOOST_TEST(!late.hear().has_value());
  const auto call = net.two.ask(3);
  const auto letter = present.hear();
  BOOST_REQUIRE(letter);
  BOOST_TEST(std::get<net::Carried>(*letter).letter.call.value == call);
}

BOOST_AUTO_TEST_CASE(a_hello_whose_connection_has_ended_changes_nothing) {
  Three net;
  Outsider present(net.world, net.second);
  present.say(hello_of(3, 2, 1, 4711, 1));
  BOOST_TEST(taken(present));
  {
    Outsider gone(net.world, net.second);
    gone.say(hello_of(3, 2, 1, 4711, 2));
  }
  UNTIL(net.world, net.two.sessions.counters().accepted == 2);
  net.world.settle();
  BOOST_TEST(!present.closed());
  net.two.ask(3);
  BOOST_TEST(present.hear().has_value());
}

BOOST_AUTO_TEST_CASE(wire_versions_that_do_not_meet_are_said_with_both_ranges) {
  Three net;
  Outsider newer(net.world, net.second);
  net::Hello hello = hello_of(1, 2);
  hello.oldest_version = 2;
  hello.newest_version = 3;
  newer.say(hello);
  const auto answer = newer.hear();
  BOOST_REQUIRE(answer && std::holds_alternative<net::Refusal>(*answer));
  const auto& refusal = std::get<net::Refusal>(*answer);
  BOOST_TEST((refusal.reason == net::RefusalReason::version));
  BOOST_TEST(refusal.text == "this node speaks wire versions 1, the other 2-3");
}

BOOST_AUTO_TEST_CASE(versions_that_meet_are_no_reason_to_refuse) {
  Three net;
  Outsider newer(net.world, net.second);
  net::Hello hello = hello_of(1, 2);
  hello.newest_version = 3;
  newer.say(hello);
  BOOST_TEST(taken(newer));
}

BOOST_AUTO_TEST_CASE(a_node_that_the_cluster_does_not_have_is_refused) {
  Three net;
  for (std::uint32_t id : {0u, 4u}) {
    Outsider stranger(net.world, net.second);
    stranger.say(hello_of(id, 2));
    BOOST_TEST(refused(stranger, net::RefusalReason::stranger));
  }
  BOOST_TEST(net.two.sessions.counters().refused_hellos == 2u);
}

BOOST_AUTO_TEST_CASE(what_others_say_is_made_fit_for_a_line) {
  Three net;
  Outsider stranger(net.world, net.second);
  net::Hello hello = hello_of(1, 2);
  hello.cluster = "evil\n\x1b[31m=" + std::string(12, 'x') + "\x7f\n";
  stranger.say(hello);
  BOOST_TEST(refused(stranger, net::RefusalReason::cluster));
  UNTIL(net.world, !net.two.warnings.empty());
  const std::string& warning = net.two.warnings.at(0);
  BOOST_TEST(warning.size() < 500u);
  BOOST_TEST(
      std::all_of(warning.begin(), warning.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

BOOST_AUTO_TEST_CASE(an_observer_may_ask_for_the_status_and_for_nothing_else) {
  Three net;
  net::Hello hello = hello_of(0, 0, 0, 0, 0);
  hello.role = net::Role::observer;
  Outsider observer(net.world, net.second);
  observer.say(hello);
  BOOST_TEST(taken(observer));
  for (int i = 0; i < 3; ++i) {
    observer.say(net::StatusQuestion{});
    const auto answer = observer.hear();
    BOOST_REQUIRE(answer && std::holds_alternative<net::StatusAnswer>(*answer));
    BOOST_TEST(std::get<net::StatusAnswer>(*answer).json == "{\"node\":2}");
  }
  observer.say(
      net::Carried{1, 0, {NodeId{3}, Incarnation{1}, NodeId{2}, CallNumber{1}, AreYouThere{}}});
  BOOST_TEST(!observer.hear().has_value());
  BOOST_TEST(net.two.log.empty());
}

BOOST_AUTO_TEST_CASE(observers_come_and_go_within_their_limit) {
  Setting setting;
  setting.limits.observers = 2;
  Three net(setting);
  net::Hello hello = hello_of(0, 0, 0, 0, 0);
  hello.role = net::Role::observer;
  std::vector<std::unique_ptr<Outsider>> observers;
  for (int i = 0; i < 3; ++i) {
    observers.push_back(std::make_unique<Outsider>(net.world, net.second));
    observers.back()->say(hello);
    BOOST_TEST(taken(*observers.back()));
  }
  BOOST_TEST(!observers[0]->hear().has_value());
  BOOST_TEST(!observers[2]->closed());
  BOOST_TEST(net.two.sessions.counters().crowded == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
