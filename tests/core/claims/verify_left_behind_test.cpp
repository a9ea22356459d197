#include "judgement.hpp"

#include <muster/claims/left_behind.hpp>

/// The verifier on journals of nodes that stay at work in an old group while the others have formed
/// a new one.

using namespace muster;
using namespace muster::test;

namespace {

Judgement asked(const JournalBuilder& story) {
  auto judgement = try_judge(story.lines, {"left-behind"});
  BOOST_TEST_REQUIRE(judgement.has_value(), (judgement ? "" : judgement.error().what));
  return *judgement;
}

std::string why(const JournalBuilder& story) {
  return asked(story).why("left-behind");
}

// Node 3 comes up again while the link 1-3 is cut, and node 2 joins it. Node 1 stays at work in the
// old group of node 2.
JournalBuilder restarted_behind_a_cut() {
  JournalBuilder story = reformed();
  story.fault(FaultKind::cut, 1, NodeSet{NodeId{3}});
  story.recovers(3);
  story.reform({2, 3});
  return story;
}

struct Left {
  JournalBuilder story = restarted_behind_a_cut();
  LeftBehindBounds bounds = left_behind_bounds(story.config().timings);

  void a_line_later_by(Duration time) {
    story.wait(time);
    story.step(3, Expired{Timer::check});
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(left_behind, Left)

BOOST_AUTO_TEST_CASE(a_member_may_ask_once_and_stop) {
  story.wait(bounds.told - 2 * moment);
  story.is_halted(1);
  a_line_later_by(bounds.told);
  BOOST_TEST(why(story) == "");
  BOOST_TEST(asked(story).holds("left-behind"));
}

BOOST_AUTO_TEST_CASE(a_member_that_works_on_is_named_with_its_coordinator) {
  a_line_later_by(bounds.told + moment);
  story.is_halted(1);
  BOOST_TEST(why(story) ==
             "node 1 still works for group 2.2, which its coordinator, node 2, has "
             "left; the bound of 350 ms is over");
  BOOST_TEST(asked(story).violations("left-behind") == 1u);
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_hear_its_coordinator_has_longer) {
  JournalBuilder cut = formed();
  cut.fault(FaultKind::cut, 1, NodeSet{NodeId{3}});
  cut.reform({2, 3});
  cut.wait(bounds.unheard - moment);
  cut.step(3, Expired{Timer::check});
  BOOST_TEST(why(cut) == "");
  cut.wait(2 * moment);
  cut.step(3, Expired{Timer::check});
  BOOST_TEST(why(cut) != "");
}

BOOST_AUTO_TEST_CASE(a_node_that_paused_is_none) {
  story.fault(FaultKind::paused, 1);
  a_line_later_by(2 * bounds.unheard);
  story.fault(FaultKind::resumed, 1);
  story.is_halted(1, Paused{2 * bounds.unheard});
  BOOST_TEST(why(story) == "");
}

// The link 2-3 of three nodes is cut, so only node 1 can reach both others.
BOOST_AUTO_TEST_CASE(nothing_is_claimed_of_rivals_and_that_is_said) {
  JournalBuilder rivals = formed();
  rivals.fault(FaultKind::cut, 2, NodeSet{NodeId{3}});
  rivals.reform({1, 2});
  rivals.wait(bounds.unheard * 10);
  rivals.fault(FaultKind::healed);
  rivals.reform({1, 2, 3});
  const Judgement judgement = asked(rivals);
  BOOST_TEST(judgement.why("left-behind") == "");
  const auto told = std::find_if(judgement.not_claimed.begin(), judgement.not_claimed.end(),
                                 [](const auto& time) { return time.assertion == "left-behind"; });
  BOOST_REQUIRE(told != judgement.not_claimed.end());
  BOOST_TEST(told->why ==
             "assumption 8: nodes 2 and 3 do not hear each other, and halt "
             "the nodes between them in turn");
  BOOST_TEST(told->to - told->from >= bounds.unheard * 10);
}

// Only the nodes' own events report that they refuse each other. The journal of faults has no line
// about it.
BOOST_AUTO_TEST_CASE(nodes_that_refuse_each_other_do_not_hear_each_other) {
  JournalBuilder differing = reformed();
  differing.recovers(3);
  differing.step(1, Differing{{NodeId{3}}, {NodeId{2}}});
  differing.step(3, Differing{{NodeId{1}}, {NodeId{2}}});
  differing.reform({2, 3});
  differing.step(2, Differing{{NodeId{1}}, {NodeId{3}}});
  differing.wait(bounds.told + moment);
  differing.step(3, Expired{Timer::check});
  BOOST_TEST(why(differing) == "");
}

BOOST_AUTO_TEST_SUITE_END()
