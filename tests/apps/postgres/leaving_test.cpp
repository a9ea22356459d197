#include "apps/postgres/script.hpp"

#include <boost/test/unit_test.hpp>

// A primary that gives up its role in order, because its node leaves or another node is to be
// primary.

namespace muster::postgres::test {

BOOST_AUTO_TEST_SUITE(leaving)

BOOST_AUTO_TEST_CASE(who_leaves_as_primary_shuts_down_unsealed_and_reports_nothing) {
  Script node = Script().opened();
  BOOST_TEST(node.after(StopCalled{true}) == "Abandon, End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::fast);
  BOOST_TEST(node.after(Ended{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(Nothing{}));
  // The next life in the same process begins as a sealed standby.
  BOOST_TEST(node.after(StopCalled{}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == Conf{});
  BOOST_TEST(node.after_each(Configured{}, Began{}, Seen{held()}) == "Begin; Look; GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(held()));
}

BOOST_AUTO_TEST_CASE(whose_row_is_not_copied_yet_leaves_so_too) {
  Script node = Script().row_written();
  BOOST_TEST(node.after(StopCalled{true}) == "Abandon, End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::fast);
}

BOOST_AUTO_TEST_CASE(who_is_not_down_in_time_goes_down_at_once) {
  Script node = Script().opened();
  node.after(StopCalled{true});
  BOOST_TEST(node.after(Overdue{}) == "Abandon, End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::immediate);
  BOOST_TEST(node.after(Ended{}) == "GiveReport, Configure");
}

BOOST_AUTO_TEST_CASE(a_standby_that_leaves_is_sealed) {
  Script node = Script().following();
  BOOST_TEST(node.after_each(StopCalled{true}, Configured{}) == "Abandon, Configure; FinishReplay");
}

BOOST_AUTO_TEST_CASE(who_hands_over_is_a_sealed_standby_in_the_election_that_it_wants) {
  Script node = Script().opened();
  BOOST_TEST(node.after(HandOverAsked{two}) == "AnswerOwner, Abandon, End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::fast);
  BOOST_TEST(!node.keeper().open);
  BOOST_TEST(node.after(Ended{}) == "WantElection, Configure");
  BOOST_TEST(node.ordered<Configure>().conf == Conf{});
  BOOST_TEST(node.after_each(StopCalled{}, Configured{}, Began{}, Seen{held()}) ==
             "nothing; Begin; Look; GiveReport");
  const auto reported = std::get<Holding>(node.ordered<GiveReport>().evidence);
  BOOST_TEST(reported.hands_over_to.value() == two);
  BOOST_TEST(node.after(StartCalled{{6, three}, {two, {one}, ""}}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf.follows.value() == two);
}

BOOST_AUTO_TEST_CASE(that_is_forgotten_with_the_next_group) {
  Script node = Script().opened();
  node.after(HandOverAsked{two}, Ended{}, StopCalled{}, Configured{}, Began{}, Seen{held()},
             StartCalled{{6, three}, {three, {one}, ""}}, Configured{}, StopCalled{}, Configured{},
             Replayed{});
  BOOST_TEST(node.after(Seen{held()}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(held()));
}

BOOST_AUTO_TEST_CASE(a_stop_before_it_is_down_lets_it_go_down) {
  Script node = Script().opened();
  node.after(HandOverAsked{two});
  BOOST_TEST(node.after_each(StopCalled{}, Ended{}) == "nothing; Configure");
  node.after(Configured{});
  BOOST_TEST(node.after(Began{}) == "Look");
}

BOOST_AUTO_TEST_CASE(a_hand_over_that_takes_too_long_is_a_fail_over) {
  Script node = Script().opened();
  node.after(HandOverAsked{two});
  BOOST_TEST(node.after(Overdue{}) == "WantElection, Abandon, End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::immediate);
  BOOST_TEST(node.after(Ended{}) == "Configure");
  BOOST_TEST(!node.keeper().hands_over_to);
  BOOST_TEST(node.after(Overdue{}) == "");
}

BOOST_AUTO_TEST_CASE(a_hand_over_that_cannot_be_is_refused) {
  const auto answer = [](Script& node, NodeId to) {
    BOOST_TEST(node.after(HandOverAsked{to}) == "AnswerOwner");
    return node.ordered<AnswerOwner>().refused_because;
  };
  Script primary = Script().opened();
  BOOST_TEST(answer(primary, one) == "node 1 is the primary already");
  BOOST_TEST(answer(primary, NodeId{9}) == "node 9 has no database");
  primary.after(StopCalled{});
  BOOST_TEST(answer(primary, two) == "node 1 is not a primary that acknowledges commits");
  Script standby = Script().following();
  BOOST_TEST(answer(standby, two) == "node 1 is not a primary that acknowledges commits");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
