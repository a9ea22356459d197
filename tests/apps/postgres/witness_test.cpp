#include "apps/postgres/script.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

// Two nodes with data and a witness: which node the promises allow to be chosen, and how a primary
// goes on alone until another node has all commits.

namespace muster::postgres::test {
namespace {

const Copies two_and_witness{{one, two}, 2, {three}};
const GroupNumber earlier{4, NodeId{3}};
const GroupNumber later{6, NodeId{3}};

Promise promise(const GroupNumber& of, NodeSet holders) {
  return {of, std::move(holders)};
}

Choice chosen_of(const std::map<NodeId, Report>& reports) {
  return choose(two_and_witness, later, reports);
}

const Promise of_both = promise(group, {one, two});
const Promise of_two = promise(group, {two});

BOOST_AUTO_TEST_SUITE(witness)

// --- The choice by promises

BOOST_AUTO_TEST_CASE(the_first_group_takes_all_nodes_with_data) {
  BOOST_TEST(!chosen_of({{one, {held()}}, {three, {}}}).primary);
  const Choice choice = chosen_of({{one, {held()}}, {two, {held()}}});
  BOOST_TEST(choice.primary.value() == two);
  BOOST_TEST(!choice.is_alone());
  BOOST_TEST(choice.promises.size() == 2U);
  BOOST_TEST(choice.promises.at(one) == promise(later, {one, two}));
}

BOOST_AUTO_TEST_CASE(a_node_that_has_all_goes_on_without_the_other) {
  const Choice choice = chosen_of({{one, {held(), of_both}}, {three, {{}, of_both}}});
  BOOST_TEST(choice.primary.value() == one);
  BOOST_TEST(choice.is_alone());
  BOOST_TEST(choice.promises.at(three) == promise(later, {one}));
  BOOST_TEST(choice.why == "node 1 has the newest data of 1 node, and goes on alone");
}

BOOST_AUTO_TEST_CASE(who_was_not_promised_is_not_chosen_and_is_told_of_no_promise) {
  const Choice choice =
      chosen_of({{one, {held(), promise(earlier, {one, two})}}, {three, {{}, of_two}}});
  BOOST_TEST(!choice.primary);
  BOOST_TEST(choice.promises.at(one) == promise(earlier, {one, two}));
  BOOST_TEST(choice.promises.at(three) == of_two);
}

BOOST_AUTO_TEST_CASE(the_latest_promise_is_known_where_a_majority_or_all_tell) {
  const Report stale{held(), promise(earlier, {one, two})};
  BOOST_TEST(!chosen_of({{one, stale}, {three, {}}}).primary);
  BOOST_TEST(!chosen_of({{one, stale}, {three, {}}}).promises.contains(three));
  BOOST_TEST(chosen_of({{one, stale}, {two, {Nothing{}}}, {three, {}}}).primary.value() == one);
  const Report forgetful{Nothing{}, {}, true};
  const Choice without_its_data = chosen_of({{one, stale}, {two, forgetful}, {three, {}}});
  BOOST_TEST(!without_its_data.primary);
  BOOST_TEST(without_its_data.why ==
             "nobody writes: 1 of the 2 nodes that are needed here know which node has each "
             "commit: start all nodes, the two with databases too");
  const Report with_data{held(25), {}, true};
  BOOST_TEST(chosen_of({{one, stale}, {two, with_data}, {three, {}}}).primary.value() == two);
}

// Both nodes and the witness have lost their safe storage since groups wrote. It is possible that
// one of the two nodes has written alone.
BOOST_AUTO_TEST_CASE(where_all_have_forgotten_who_has_less_holds_nothing) {
  const Choice choice = chosen_of({{one, {held(20)}}, {two, {held(25)}}, {three, {}}});
  BOOST_TEST(choice.primary.value() == two);
  BOOST_TEST(choice.prefix.contains(one));
  BOOST_TEST(choice.is_alone());
}

BOOST_AUTO_TEST_CASE(who_only_follows_is_promised_nothing_before_it_was_demanded) {
  Holding alone = held_as_primary(25);
  const std::map<NodeId, Report> reports{
      {one, {held(), of_two}}, {two, {alone, of_two}}, {three, {{}, of_two}}};
  const Choice choice = chosen_of(reports);
  BOOST_TEST(choice.primary.value() == two);
  BOOST_TEST(choice.is_alone());
  BOOST_TEST(choice.prefix.contains(one));
  alone.demanded = {one, two};
  std::map<NodeId, Report> demanded = reports;
  demanded[two].evidence = alone;
  BOOST_TEST(!chosen_of(demanded).is_alone());
}

BOOST_AUTO_TEST_CASE(whom_nobody_followed_for_a_while_goes_on_alone) {
  Holding holding = held_as_primary();
  holding.unfollowed = true;
  const Choice choice =
      chosen_of({{one, {held(), of_both}}, {two, {holding, of_both}}, {three, {{}, of_both}}});
  BOOST_TEST(choice.primary.value() == two);
  BOOST_TEST(choice.is_alone());
}

// --- A primary alone

Choice chosen_alone() {
  const Promise its = promise(group, {one});
  return {one, {}, "", {{one, its}, {three, its}}};
}

Script opened_alone() {
  Script node = Script(two_and_witness).reported();
  node.after(StartCalled{group, chosen_alone()}, Promoted{});
  BOOST_TEST(node.after(MarkerWritten{row_of_group, Lsn{32}}) == "EndStart, Configure");
  BOOST_TEST(node.ordered<Configure>().conf == writable);
  BOOST_TEST(node.after_each(Configured{}, ConfShown{}) == "ShowConf; nothing");
  BOOST_TEST(node.after_each(AllHaveIt{earlier}, AllHaveIt{group}) == "nothing; Acknowledge");
  BOOST_TEST(node.after_each(Acknowledges{}, Checkpointed{}) == "Checkpoint; AwaitFollower");
  return node;
}

BOOST_AUTO_TEST_CASE(it_opens_when_all_members_know_that_its_commits_are_nowhere_else) {
  Script node = opened_alone();
  BOOST_TEST(node.keeper().open);
  BOOST_TEST(node.reported_as_primary().demanded.empty());
}

BOOST_AUTO_TEST_CASE(it_demands_copies_in_force_and_of_all_before_and_then_wants_an_election) {
  Script node = opened_alone();
  BOOST_TEST(node.after_each(FollowerThere{}, AcknowledgerGone{}, Kicked{Lsn{99}}) ==
             "EndAcknowledger; Kick; AwaitCopies");
  BOOST_TEST(node.ordered<AwaitCopies>().lsn == Lsn{99});
  BOOST_TEST(node.ordered<AwaitCopies>().bounded);
  BOOST_TEST(node.after(CopiesHold{}) == "WantElection");
  BOOST_TEST(node.reported_as_primary().demanded == (NodeSet{one, two}));
}

BOOST_AUTO_TEST_CASE(it_is_alone_again_where_that_came_to_nothing) {
  Script node = opened_alone();
  node.after(FollowerThere{}, AcknowledgerGone{}, Kicked{Lsn{99}});
  BOOST_TEST(node.after_each(Failed{"nobody has it"}, Acknowledges{}) ==
             "Acknowledge; AwaitFollower");
  BOOST_TEST(node.reported_as_primary().demanded.empty());
}

BOOST_AUTO_TEST_CASE(it_hands_over_to_nobody) {
  Script node = opened_alone();
  BOOST_TEST(node.after(HandOverAsked{two}) == "AnswerOwner");
  BOOST_TEST(node.ordered<AnswerOwner>().refused_because == "node 2 does not have all commits yet");
}

// With a witness, each election can let the primary go on alone.
BOOST_AUTO_TEST_CASE(whose_row_the_other_does_not_get_wants_an_election_each_time) {
  Script node = Script(two_and_witness).reported();
  node.after(StartCalled{group, {one, {two}, "", {{one, of_both}, {two, of_both}}}}, Promoted{});
  BOOST_TEST(node.after_each(MarkerWritten{row_of_group, Lsn{32}}, Configured{}, ConfShown{}) ==
             "EndStart, Configure; ShowConf; AwaitCopies");
  BOOST_TEST(node.ordered<AwaitCopies>().bounded);
  BOOST_TEST(node.after(Failed{"nobody gets it"}) == "WantElection, AwaitCopies");
  BOOST_TEST(node.ordered<AwaitCopies>().bounded);
  BOOST_TEST(node.after(Failed{"nobody gets it"}) == "WantElection, AwaitCopies");
  BOOST_TEST(!node.keeper().open);
  BOOST_TEST(node.reported_as_primary().unfollowed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::postgres::test
