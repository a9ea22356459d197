#include <muster/claims/left_behind.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

/// The assertions that hold while links are cut. The verifier judges them on states that the test
/// makes.

namespace muster::cuts_test {

namespace {

using namespace std::chrono_literals;

constexpr NodeId one{1}, two{2}, three{3}, four{4}, five{5};
constexpr GroupNumber of_2{7, two}, of_3{9, three}, of_4{11, four};
const Cuts cut_1_3{{one, three}};

Standing normal(NodeId node, GroupNumber group) {
  return {node, true, Status::Normal, group.coordinator, group, Digest{1}, group};
}

Standing stopped(NodeId node) {
  return {node, true, Status::Down, {}, {}, {}, {}};
}

Standing down(NodeId node) {
  return {node, false, Status::Down, {}, {}, {}, {}};
}

using Nodes = std::vector<Standing>;

bool settled(const Nodes& nodes, const Cuts& cuts, std::size_t quorum = 0) {
  return !assertion_2_in_cuts(nodes, cuts, quorum);
}

/// Three nodes with the default timings. At time 0 node 2 formed a group without node 1, which
/// stayed in the old one.
struct OneIsLeft {
  Nodes nodes{normal(one, of_2), normal(two, of_3), normal(three, of_3)};
  Cuts unheard = cut_1_3;
  LeftBehind left;
  LeftBehindBounds bounds = left_behind_bounds({});

  void see(Duration at) {
    left.see(at, nodes, unheard, [](NodeId) { return Timings(); });
  }
  std::string late(Duration at) const {
    const auto disagreement = left.overdue(at);
    return disagreement ? disagreement->why : "";
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cuts)

BOOST_AUTO_TEST_CASE(make_parts_only_of_nodes_that_all_hear_each_other) {
  const NodeSet all{one, two, three};
  BOOST_TEST(parts(all, {})->size() == 1u);
  BOOST_TEST(parts(all, {{one, three}, {two, three}})->size() == 2u);
  BOOST_TEST(!parts(all, cut_1_3));
}

BOOST_AUTO_TEST_CASE(make_rivals_of_two_that_are_each_the_highest_they_hear) {
  const Nodes all{stopped(one), stopped(two), stopped(three), stopped(four)};
  BOOST_TEST(!rivals(all, {}));
  // The links that are not cut form a chain.
  BOOST_TEST(!rivals(all, {{one, three}, {one, four}, {two, four}}));
  BOOST_TEST((rivals(all, {{three, four}}) == std::pair(three, four)));
  Nodes without_3 = all;
  without_3[2] = down(three);
  BOOST_TEST(!rivals(all, {{two, four}}));
  BOOST_TEST((rivals(without_3, {{two, four}}) == std::pair(two, four)));
  BOOST_TEST(!rivals(without_3, {{two, four}, {one, four}}));  // no node is between them
}

BOOST_AUTO_TEST_CASE(leave_one_group_of_those_that_hear_its_coordinator) {
  BOOST_TEST(settled({stopped(one), normal(two, of_3), normal(three, of_3)}, cut_1_3));
  BOOST_TEST(!settled({normal(one, of_2), normal(two, of_3), normal(three, of_3)}, cut_1_3));
  BOOST_TEST(!settled({stopped(one), stopped(two), normal(three, of_3)}, cut_1_3));
  BOOST_TEST(!settled({stopped(one), stopped(two), stopped(three)}, cut_1_3));
  BOOST_TEST(settled({down(one), down(two), down(three)}, cut_1_3));
  BOOST_TEST(settled({normal(one, of_2), normal(two, of_2), down(three)}, cut_1_3));
  Nodes ceasing{stopped(one), normal(two, of_3), normal(three, of_3)};
  ceasing[0].works_for = of_2;
  BOOST_TEST(!settled(ceasing, cut_1_3));
  Nodes in_an_old_group{stopped(one), normal(two, {8, three}), normal(three, of_3)};
  BOOST_TEST(!settled(in_an_old_group, cut_1_3));
}

BOOST_AUTO_TEST_CASE(make_several_groups_where_nobody_is_between_them) {
  const Cuts in_two{{one, three}, {one, four}, {two, three}, {two, four}};
  BOOST_TEST(settled(
      {normal(one, of_2), normal(two, of_2), normal(three, of_4), normal(four, of_4)}, in_two));
}

BOOST_AUTO_TEST_CASE(claim_nothing_of_rivals) {
  BOOST_TEST(settled({normal(one, of_2), normal(two, of_2), normal(three, of_3)}, {{two, three}}));
}

BOOST_AUTO_TEST_CASE(let_nobody_work_whom_too_few_hear) {
  const Cuts chain{{one, three}, {one, four}, {two, four}};
  const Nodes pair{stopped(one), stopped(two), normal(three, of_4), normal(four, of_4)};
  BOOST_TEST(settled(pair, chain));
  BOOST_TEST(!settled(pair, chain, 3));
  BOOST_TEST(settled({stopped(one), stopped(two), stopped(three), stopped(four)}, chain, 3));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(left_behind, OneIsLeft)

BOOST_AUTO_TEST_CASE(has_the_bounds_of_its_questions) {
  Timings timings;
  timings.T = 100ms;
  timings.check_every = 50ms;
  timings.coordinator_timeout = 150ms;
  timings.stop_deadline = 200ms;
  const LeftBehindBounds of = left_behind_bounds(timings);
  BOOST_TEST(of.told == 450ms);
  BOOST_TEST(of.unheard == 700ms);
  BOOST_TEST(of.outranked == 500ms);
}

BOOST_AUTO_TEST_CASE(a_member_whose_coordinator_answers_has_one_question) {
  see(1s);
  BOOST_TEST(late(1s + bounds.told) == "");
  BOOST_TEST(late(1s + bounds.told + 1ns)
                 .starts_with(
                     "node 1 still works for group 7.2, which its coordinator, node 2, has left"));
  nodes[0] = stopped(one);
  see(2s);
  BOOST_TEST(late(20s) == "");
}

BOOST_AUTO_TEST_CASE(a_member_that_its_coordinator_does_not_hear_has_two) {
  nodes = {normal(one, {7, three}), normal(two, of_3), normal(three, of_3)};
  see(0s);
  BOOST_TEST(late(bounds.unheard) == "");
  BOOST_TEST(late(bounds.unheard + 1ns) != "");
}

BOOST_AUTO_TEST_CASE(that_it_was_unheard_for_a_moment_is_enough) {
  unheard = {{one, two}, {one, three}};
  see(0s);
  unheard = cut_1_3;
  see(10ms);
  BOOST_TEST(late(bounds.unheard) == "");
}

// In each election node 1 first waits T for an answer of node 2, the next higher node, which is
// down. Only then does it ask the others.
BOOST_AUTO_TEST_CASE(other_nodes_that_are_silent_cost_time) {
  nodes = {normal(one, {7, four}), down(two), normal(three, of_4), normal(four, of_4)};
  unheard = {{one, four}};
  see(0s);
  BOOST_TEST(late(bounds.unheard + 200ms) == "");
  BOOST_TEST(late(bounds.unheard + 200ms + 1ns) != "");
}

BOOST_AUTO_TEST_CASE(a_coordinator_is_not_alone_with_a_higher_node_that_works_elsewhere) {
  nodes = {normal(one, of_4), normal(two, of_2), normal(three, of_4), normal(four, of_4)};
  unheard = {{two, four}};
  see(0s);
  BOOST_TEST(late(bounds.outranked) == "");
  BOOST_TEST(late(bounds.outranked + 1ns).find("though it hears node 3") != std::string::npos);
  nodes[2] = stopped(three);
  see(1s);
  BOOST_TEST(late(20s) == "");  // the higher node does not work
}

BOOST_AUTO_TEST_CASE(a_member_of_its_coordinators_group_is_none) {
  nodes = {normal(one, of_3), normal(two, of_3), normal(three, of_3)};
  see(0s);
  BOOST_TEST(late(20s) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::cuts_test
