#include <muster/claims/assertions.hpp>
#include <muster/protocol/bully.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

/// For each assertion, states that satisfy it and states that violate it. The test makes these
/// states.

namespace muster::standings_test {

namespace {

constexpr NodeId one{1}, two{2}, three{3};
constexpr GroupNumber group_16{16, two}, group_17{17, three};
constexpr Digest task{1}, other_task{2};

Standing down(NodeId node) {
  return {node, false, Status::Normal, NodeId{9}, {}, {}, group_16};
}

Standing election(NodeId node) {
  return {node, true, Status::Election, {}, {}, {}, {}};
}

Standing reorganization(NodeId node, NodeId coordinator, GroupNumber group = group_16) {
  return {node, true, Status::Reorganization, coordinator, group, {}, {}};
}

Standing normal(NodeId node, NodeId coordinator, Digest definition = task,
                GroupNumber group = group_16) {
  return {node, true, Status::Normal, coordinator, group, definition, group};
}

Standing working(NodeId node, GroupNumber group) {
  Standing standing = election(node);
  standing.works_for = group;
  return standing;
}

using Nodes = std::vector<Standing>;

/// The sentence of the violation; empty if there is none.
std::string why(const std::optional<Disagreement>& violation) {
  return violation ? violation->why : "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(assertion_1a_)

BOOST_AUTO_TEST_CASE(holds_where_reorganization_and_normal_agree_on_the_coordinator) {
  BOOST_TEST(!assertion_1a(Nodes{}));
  BOOST_TEST(!assertion_1a(Nodes{election(one), reorganization(two, two), normal(three, two)}));
}

BOOST_AUTO_TEST_CASE(is_violated_by_two_coordinators) {
  const auto violation =
      assertion_1a(Nodes{reorganization(one, two), election(two), reorganization(three, three)});
  BOOST_TEST_REQUIRE(violation.has_value());
  BOOST_TEST(violation->why == "node 1 Reorganization c=2, node 3 Reorganization c=3");
  BOOST_TEST(violation->nodes == (NodeSet{one, three}));
}

BOOST_AUTO_TEST_CASE(is_violated_by_the_last_pair_too) {
  BOOST_TEST(
      assertion_1a(Nodes{normal(one, three), normal(two, three), normal(three, two)}).has_value());
}

// A node's statements from before its failure do not count.
BOOST_AUTO_TEST_CASE(says_nothing_of_nodes_that_are_down) {
  BOOST_TEST(!assertion_1a(Nodes{down(one), reorganization(two, two)}));
}

// According to the paper, two Normal nodes under the same dead coordinator satisfy the assertion.
BOOST_AUTO_TEST_CASE(does_not_say_who_is_right) {
  BOOST_TEST(!assertion_1a(Nodes{normal(one, three), normal(two, three), down(three)}));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(assertion_1b_)

BOOST_AUTO_TEST_CASE(holds_where_normal_nodes_have_the_same_definition) {
  BOOST_TEST(!assertion_1b(Nodes{normal(one, two), normal(two, two), reorganization(three, two)}));
}

BOOST_AUTO_TEST_CASE(is_violated_by_two_definitions) {
  BOOST_TEST(why(assertion_1b(Nodes{normal(one, two), normal(two, two, other_task)})) ==
             "node 1 Normal d=0000000000000001, node 2 Normal d=0000000000000002");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(assertion_2_)

BOOST_AUTO_TEST_CASE(holds_where_all_that_are_up_are_normal_with_one_of_them) {
  BOOST_TEST(!assertion_2(Nodes{normal(one, two), normal(two, two), down(three)}));
  BOOST_TEST(!assertion_2(Nodes{down(one), down(two)}));
}

BOOST_AUTO_TEST_CASE(is_violated_by_a_node_that_is_not_normal) {
  BOOST_TEST(why(assertion_2(Nodes{election(one), normal(two, two)})) ==
             "node 2 Normal c=2, node 1 Election c=none");
}

BOOST_AUTO_TEST_CASE(is_violated_by_a_coordinator_that_is_down) {
  const auto violation = assertion_2(Nodes{normal(one, three), normal(two, three), down(three)});
  BOOST_TEST_REQUIRE(violation.has_value());
  BOOST_TEST(violation->why.starts_with("no node is Normal as its own coordinator: node 1"));
  BOOST_TEST(violation->nodes == (NodeSet{one, two}));
}

BOOST_AUTO_TEST_CASE(is_violated_by_two_coordinators) {
  BOOST_TEST(assertion_2(Nodes{normal(one, one), normal(two, two)}).has_value());
}

// The coordinator-elect waits for ever (docs/protocols/bully/findings.md, "A coordinator stuck in
// reorganization").
BOOST_AUTO_TEST_CASE(is_violated_by_a_coordinator_left_in_reorganization) {
  BOOST_TEST(assertion_2(Nodes{reorganization(one, two), reorganization(two, two)}).has_value());
}

BOOST_AUTO_TEST_CASE(one_group_is_more_than_assertion_2) {
  BOOST_TEST(is_one_group(Nodes{normal(one, two), normal(two, two), down(three)}));
  const Nodes two_groups{normal(one, two), normal(two, two, task, group_17)};
  BOOST_TEST(!assertion_2(two_groups));
  BOOST_TEST(!is_one_group(two_groups));
  BOOST_TEST(!is_one_group(Nodes{down(one)}));
}

BOOST_AUTO_TEST_CASE(who_is_outvoted_leaves_assertion_2_and_is_in_no_group) {
  Standing outvoted{one, true, Status::Down, {}, {}, {}, {}};
  outvoted.takes_part = false;
  const Nodes nodes{outvoted, normal(two, three), normal(three, three)};
  BOOST_TEST(!assertion_2(nodes).has_value());
  BOOST_TEST(!is_one_group(nodes));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(works_apart_)

BOOST_AUTO_TEST_CASE(holds_where_all_work_for_one_group) {
  BOOST_TEST(!works_apart(Nodes{working(one, group_16), working(two, group_16), election(three)}));
}

// One node's `stop` takes long, and the others start before it ends. The status of that node does
// not show that its application is still at work.
BOOST_AUTO_TEST_CASE(is_violated_by_work_for_two_groups_whatever_the_status) {
  BOOST_TEST(why(works_apart(Nodes{working(one, group_16), normal(two, two, task, group_17)})) ==
             "node 1 works for group 16.2, node 2 works for group 17.3");
}

BOOST_AUTO_TEST_CASE(says_nothing_of_nodes_that_are_down) {
  BOOST_TEST(!works_apart(Nodes{down(one), working(two, group_17)}));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(group_grows_)

BOOST_AUTO_TEST_CASE(holds_for_the_first_the_same_and_a_greater_number) {
  BOOST_TEST(!group_grows(one, std::nullopt, group_16));
  BOOST_TEST(group_grows(one, group_16, group_16).has_value());
  BOOST_TEST(!group_grows(one, group_16, group_17));
  BOOST_TEST(!group_grows(one, GroupNumber{16, one}, group_16));
}

BOOST_AUTO_TEST_CASE(is_violated_by_a_smaller_number) {
  BOOST_TEST(why(group_grows(one, group_17, group_16)) ==
             "node 1 accepted group 16.2 after group 17.3");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

const SafeState saved{
    Incarnation{3}, 32, Assigned{{"task"}, group_16}, {}, {{two, Incarnation{5}}}};

SafeState recovered() {
  SafeState safe = saved;
  safe.incarnation = Incarnation{4};
  return safe;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(durable_)

BOOST_AUTO_TEST_CASE(holds_where_nothing_is_older) {
  BOOST_TEST(!durable(one, saved, recovered()));
  SafeState later = recovered();
  later.counter_limit = 48;
  later.assigned = Assigned{{"another"}, group_17};
  later.seen[two] = Incarnation{6};
  later.seen[three] = Incarnation{1};
  BOOST_TEST(!durable(one, saved, later));
}

BOOST_AUTO_TEST_CASE(is_violated_by_each_thing_that_is_lost) {
  const auto violated = [](auto damage) {
    SafeState safe = recovered();
    damage(safe);
    return why(durable(one, saved, safe));
  };
  BOOST_TEST(violated([](SafeState& safe) { safe.incarnation = Incarnation{3}; }) ==
             "node 1 recovered incarnation 3, but incarnation 3 was durable");
  BOOST_TEST(violated([](SafeState& safe) { safe.counter_limit = 31; }) ==
             "node 1 recovered the counter limit 31, but 32 was durable");
  BOOST_TEST(violated([](SafeState& safe) { safe.assigned.reset(); }) ==
             "node 1 recovered no group, but group 16.2 was durable");
  BOOST_TEST(violated([](SafeState& safe) { safe.assigned->group.counter = 15; }) ==
             "node 1 recovered group 15.2, but group 16.2 was durable");
  BOOST_TEST(violated([](SafeState& safe) { safe.assigned->definition = {"torn"}; }) ==
             "node 1 recovered another definition of group 16.2 than was durable");
  BOOST_TEST(violated([](SafeState& safe) { safe.seen.clear(); }) ==
             "node 1 recovered less of node 2 than its incarnation 5, which was durable");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(settling_bound_)

Config config(std::uint32_t nodes) {
  Config config;
  for (std::uint32_t id = 1; id <= nodes; ++id) config.nodes.insert(NodeId{id});
  return config;
}

// In ms: 2100 after a difference, and twice the sum of: 150 + 100 until the failure is noticed, 800
// of back-off, 200 in phase A, 400 in phase H, 2100 in phase C, 10000 for `reorganize`, and 2100 in
// phase Y.
BOOST_AUTO_TEST_CASE(of_the_default_timings) {
  BOOST_TEST(settling_bound(config(5)) == std::chrono::milliseconds(33'800));
}

BOOST_AUTO_TEST_CASE(grows_with_each_thing_that_it_is_made_of) {
  const Duration before = settling_bound(config(5));
  BOOST_TEST(settling_bound(config(6)) > before);
  const auto with = [](auto change) {
    Config changed = config(5);
    change(changed);
    return settling_bound(changed);
  };
  using std::chrono::seconds;
  BOOST_TEST(with([](Config& c) { c.timings.T *= 2; }) > before);
  BOOST_TEST(with([](Config& c) { c.timings.stop_deadline += seconds(1); }) > before);
  BOOST_TEST(with([](Config& c) { c.timings.start_deadline += seconds(1); }) > before);
  BOOST_TEST(with([](Config& c) { c.timings.reorganize_deadline += seconds(1); }) > before);
  BOOST_TEST(with([](Config& c) { c.timings.check_every += seconds(1); }) > before);
  BOOST_TEST(with([](Config& c) { c.timings.coordinator_timeout += seconds(1); }) > before);
  BOOST_TEST(with([](Config& c) { c.repairs.back_off = false; }) < before);
  BOOST_TEST(with([](Config& c) { c.repairs.parallel_calls = false; }) > before);
  BOOST_TEST(with([](Config& c) { c.repairs.stop_beside_halts = false; }) > before);
}

BOOST_AUTO_TEST_SUITE_END()

// The standing of a node, computed from a state of the protocol itself.
BOOST_AUTO_TEST_CASE(a_node_as_the_assertions_see_it) {
  Config own;
  own.self = one;
  own.nodes = {one};
  bully::State state;
  bully::step(own, state, Recovered{{Incarnation{1}, 0, {}, {}, {}}});
  const Standing alone = standing(one, bully::view(own, state), std::nullopt);
  BOOST_TEST(alone.up);
  BOOST_TEST(alone.status == Status::Reorganization);
  BOOST_TEST(alone.coordinator == one);
  BOOST_TEST(alone.group == (GroupNumber{1, one}));
}

}  // namespace muster::standings_test
