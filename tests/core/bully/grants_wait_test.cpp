#include "granting.hpp"

/// How long a coordinator that reorganizes waits for the rights of others
/// (docs/explanation/options/quorum.md), and the effect of calm on that.

namespace muster::test {
namespace {

Options calm_too() {
  Options options = with_quorum;
  options.calm = 1s;
  return options;
}

/// Node 3 of three. Node 2 has reported that node 1 may be at work, and node 1 is silent.
struct WaitingFor1 : Highest {
  WaitingFor1() {
    long_after();
    elected_with({id(2)});
    answered(2, Joined{}, tells({Rights{GroupNumber{9, id(1)}, 80ms, 200ms}}));
  }
};

BOOST_AUTO_TEST_SUITE(grants_of_others)

BOOST_AUTO_TEST_CASE(a_node_out_of_reach_has_ceased_before_reorganize) {
  Clocked node = told_by_2({Rights{GroupNumber{9, id(1)}, 80ms, 200ms}});
  BOOST_TEST(!node.asked<Reorganize>());
  node.now += 80ms + stop_deadline;  // node 3's life was an hour ago, so none of its grants is left
  node.give(Expired{Timer::right});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_FIXTURE_TEST_CASE(a_machine_that_has_refused_since_is_waited_for_no_longer, WaitingFor1) {
  BOOST_TEST(!asked<Reorganize>());
  unanswered(1, Unheard::refused);
  BOOST_TEST(asked<Reorganize>());
}

const ByQuorum says_it_ceased{std::nullopt, false, false, {}, true};

BOOST_FIXTURE_TEST_CASE(nor_a_node_that_has_said_since_that_it_has_ceased, WaitingFor1) {
  BOOST_TEST(!asked<Reorganize>());
  answered(1, Here{}, says_it_ceased);
  BOOST_TEST(asked<Reorganize>());
}

BOOST_FIXTURE_TEST_CASE(that_it_is_there_alone_says_nothing, WaitingFor1) {
  answered(1, Here{});
  BOOST_TEST(!asked<Reorganize>());
}

BOOST_FIXTURE_TEST_CASE(who_has_not_said_so_is_asked_again_while_it_is_waited_for, WaitingFor1) {
  for (int i = 0; i < 3; ++i) {
    i == 0 ? unanswered(1) : answered(1, Here{});
    give(Expired{Timer::check});
    BOOST_TEST(sent<AreYouThere>() == (Nodes{1}));
  }
  give(Expired{Timer::check});  // node 1 has not answered yet
  BOOST_TEST(sent<AreYouThere>().empty());
  answered(1, Here{}, says_it_ceased);
  BOOST_TEST_REQUIRE(asked<Reorganize>());
  give(Expired{Timer::check});
  BOOST_TEST(sent<AreYouThere>().empty());
}

BOOST_AUTO_TEST_CASE(a_node_has_ceased_when_it_works_for_nobody_and_nobody_else_has_halted_it) {
  const auto says = [](Clocked& node) {
    node.called(2, AreYouThere{});
    const auto& riding = node.answer<Here>()->by_quorum;
    return riding && riding->ceased;
  };
  Clocked node(1, 3);
  BOOST_TEST(says(node));  // the life has only begun, and the previous life's application is gone
  node.called(2, Halt{{id(2), {1}, 1}});
  BOOST_TEST(!says(node));  // the application is still stopping
  node.end_hook();
  BOOST_TEST(says(node));
  node.called(3, Halt{{id(3), {1}, 1}});
  BOOST_TEST(!says(node));  // node 3's election began earlier and can still make this node a member
  node.called(2, Halt{{id(2), {1}, 2}});
  BOOST_TEST(says(node));
  node.called(2, NewCoordinator{{id(2), {1}, 2}, {1}, node.group(2)});
  BOOST_TEST(!says(node));
}

BOOST_FIXTURE_TEST_CASE(an_older_proof_does_not_count, Highest) {
  long_after();
  give(Failed{id(1), {1}});
  elected_with({id(2)});
  unanswered(1);
  answered(2, Joined{}, tells({Rights{GroupNumber{9, id(1)}, 80ms, 200ms}}));
  BOOST_TEST(!asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(the_least_is_taken_that_a_majority_stays_within) {
  Clocked node(5, 5);
  node.long_after();
  node.elected_with({id(2), id(3), id(4)});
  node.unanswered(1);
  const GroupNumber old{9, id(1)};
  node.answered(2, Joined{}, tells({Rights{old, 10ms, 10ms}}));
  node.answered(3, Joined{}, tells({Rights{old, 70ms, 70ms}}));
  node.answered(4, Joined{}, tells({Rights{old, 240ms, 240ms}}));
  node.now += 70ms + stop_deadline - 1ns;  // nodes 5, 2 and 3 are a majority of five
  node.give(Expired{Timer::right});
  BOOST_TEST(!node.asked<Reorganize>());
  node.now += 1ns;
  node.give(Expired{Timer::right});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_is_there_knows_best_of_its_group) {
  const GroupNumber old{9, id(2)};  // in this group node 2 has sent no Ready
  const Clocked node = told_by_2({Rights{old, 90ms, 240ms}, Rights{old, 90ms, {}, true, {}}});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_AUTO_TEST_CASE(nobody_else_s_word_does) {
  const GroupNumber old{9, id(1)};
  const Clocked node = told_by_2({Rights{old, 90ms, 240ms}, Rights{old, 90ms, {}, true, {}}});
  BOOST_TEST(!node.asked<Reorganize>());
}

BOOST_FIXTURE_TEST_CASE(a_new_life_may_have_granted_just_before, Highest) {
  elected_with({id(2)});
  unanswered(1);
  const ByQuorum new_life = tells({Rights{std::nullopt, 2 * L, 2 * L}});
  answered(2, Joined{}, new_life);
  BOOST_TEST(!asked<Reorganize>());
  now += 2 * L + stop_deadline;
  give(Expired{Timer::right});
  BOOST_TEST(asked<Reorganize>());
}

BOOST_FIXTURE_TEST_CASE(and_so_it_tells_when_it_joins, Lowest) {
  now += 100ms;
  joins(3);
  const Rights anybody{std::nullopt, 2 * L - 100ms, 2 * L - 100ms};
  BOOST_TEST(answer<Joined>()->by_quorum->rights == std::vector{anybody});
}

BOOST_AUTO_TEST_CASE(a_letter_that_lies_holds_nobody_up_for_ever) {
  Clocked node = told_by_2({Rights{GroupNumber{9, id(1)}, 1000h, Duration::max()}});
  BOOST_TEST(!node.asked<Reorganize>());
  node.now += 2 * L + stop_deadline;
  node.give(Expired{Timer::right});
  BOOST_TEST(node.asked<Reorganize>());
}

BOOST_FIXTURE_TEST_CASE(who_joins_tells_what_it_knows, Lowest) {
  long_after();
  joins(3);
  now += 100ms;
  called(2, Halt{{id(2), {1}, 1}});
  called(2, NewCoordinator{{id(2), {1}, 1}, {1}, {200, id(2)}});
  const Letter* joined = answer<Joined>();
  BOOST_TEST_REQUIRE(joined);
  const Rights expected{group(3), L - 100ms, 2 * L - 100ms};
  BOOST_TEST(joined->by_quorum->rights == std::vector{expected});
}

// --- With calm (docs/explanation/options/calm.md)

BOOST_AUTO_TEST_CASE(a_coordinator_that_a_majority_does_not_answer_again_leaves_for_a_while) {
  Clocked node(3, 3, calm_too());
  coordinates_all(node);
  for (int i = 0; i < 2; ++i) {
    BOOST_REQUIRE(!node.state.leaving);
    if (i == 1) coordinates_all(node);
    node.now += L;
    node.give(Expired{Timer::right});
    BOOST_TEST_REQUIRE(node.asked<Stop>());
    BOOST_TEST(node.asked<Stop>()->by.at == node.now + stop_deadline);
  }
  node.end_hook();
  BOOST_TEST_REQUIRE(node.asked<Leave>());
  BOOST_TEST(node.asked<Leave>()->cause == LeaveCause::unsteady);
}

BOOST_AUTO_TEST_CASE(with_a_quorum_the_shortest_hold_is_four_times_what_a_silent_loss_costs) {
  const Clocked node(3, 3, calm_too());
  BOOST_TEST(holds(node.config).shortest == 4 * (L + stop_deadline));
  BOOST_TEST(holds(node.config).longest == 60s);
  Config shorter = node.config;
  shorter.options.calm = 50ms;
  BOOST_TEST(holds(shorter).shortest == 3s);  // `longest` is the bound
  shorter.options.quorum = {};
  BOOST_TEST(holds(shorter).shortest == 50ms);
}

BOOST_AUTO_TEST_CASE(a_held_node_that_has_joined_is_left_out_and_waited_for_no_longer) {
  Clocked node(3, 3, calm_too());
  coordinates_all(node);
  for (int i = 0; i < 2; ++i) {  // node 1 is not Normal, and takes long to stop
    if (i == 1) coordinates_all(node);
    node.give(Expired{Timer::check});
    node.answered(2, Normality{true}, grant);
    node.answered(1, Normality{false});
  }
  node.elected_with({id(1), id(2)});
  node.answered(2, Joined{}, grant);
  BOOST_TEST(!node.asked<Reorganize>());
  node.answered(1, Joined{}, tells({Rights{GroupNumber{9, id(1)}, 80ms, 200ms}}));
  BOOST_TEST_REQUIRE(node.asked<Reorganize>());
  BOOST_TEST(node.asked<Reorganize>()->members.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
