#include <muster/lab/world.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <set>

// The bounds of a quorum (docs/explanation/options/quorum.md), in worlds with cut links, in
// simulated time.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration minute = 60s;

lab::WorldOptions with_quorum(Quorum quorum = Quorum::majority) {
  lab::WorldOptions options;
  options.options.quorum = quorum;
  options.timings.T = 100ms;
  options.timings.check_every = 50ms;
  options.timings.coordinator_timeout = 150ms;
  options.timings.stop_deadline = 1s;
  return options;
}

/// The time in which each node works, from the hooks in its journal: from the beginning of `start`
/// to the end of `stop`.
struct Work {
  std::map<NodeId, Duration> worked;  ///< the time of work of each node
  Duration apart{};                   ///< the time in which two nodes worked for different groups
  std::size_t groups = 0;

  [[nodiscard]] double share(std::uint32_t node, Duration of) const {
    return static_cast<double>(worked.at(NodeId{node}).count()) / static_cast<double>(of.count());
  }
};

Work work_of(const std::deque<journal::Line>& lines, Duration from, Duration to) {
  Work work;
  std::map<NodeId, GroupNumber> works;
  std::set<GroupNumber> seen;
  Duration before = from;
  const auto pass = [&](Duration t) {
    const Duration now = std::clamp(t, from, to);
    std::set<GroupNumber> groups;
    for (const auto& [node, group] : works) {
      work.worked[node] += now - before;
      groups.insert(group);
    }
    if (groups.size() > 1) work.apart += now - before;
    before = now;
  };
  for (const journal::Line& line : lines) {
    if (const auto* edge = std::get_if<journal::HookEdge>(&line)) {
      pass(edge->stamp.t);
      if (edge->hook == Hook::start && edge->edge == journal::Edge::begin) {
        works[edge->stamp.node] = *edge->group;
        if (from < edge->stamp.t) seen.insert(*edge->group);
      }
      if (edge->hook == Hook::stop && edge->edge == journal::Edge::end)
        works.erase(edge->stamp.node);
    } else if (const auto* ended = std::get_if<journal::Ended>(&line)) {
      pass(ended->stamp.t);
      works.erase(ended->stamp.node);
    }
  }
  pass(to);
  work.groups = seen.size();
  return work;
}

/// The work of the nodes in the minute after a fault. Calls `strike`, which makes the fault, when
/// all nodes are Normal.
Work after(lab::WorldOptions options, const std::function<void(lab::World&)>& strike) {
  lab::World world(std::move(options));
  BOOST_REQUIRE(world.run_until_normal());
  const Duration from = world.now();
  strike(world);
  while (world.now() < from + minute) world.run_for(from + minute - world.now());
  for (const verify::Verdict& verdict : world.verify().verdicts)
    if (const auto* violated = std::get_if<verify::Violated>(&verdict))
      BOOST_ERROR(violated->assertion << ": " << violated->disagreement.why);
  return work_of(world.lines(), from, from + minute);
}

NodeId id(std::uint32_t value) {
  return NodeId{value};
}

BOOST_AUTO_TEST_SUITE(grants)

BOOST_AUTO_TEST_CASE(a_member_that_is_cut_from_its_coordinator_alone_soon_stops) {
  const auto cut = [](lab::World& world) { world.cut(id(5), {id(1)}); };
  const Work work = after(with_quorum(), cut);
  BOOST_TEST(work.apart.count() == 0);
  for (std::uint32_t node : {2u, 3u, 4u, 5u}) BOOST_TEST(work.share(node, minute) > 0.95, node);
  // Without a quorum the cut member works beside the others, until a higher node ends its second
  // election in a row.
  BOOST_TEST(after(with_quorum(Quorum::off), cut).apart.count() > 0);
}

BOOST_AUTO_TEST_CASE(nobody_works_beside_an_old_side_that_is_slow_to_stop) {
  const auto slow = [](Quorum quorum) {
    lab::WorldOptions options = with_quorum(quorum);
    options.hook_fate = [](NodeId, Hook hook) {
      lab::HookFate fate;
      if (hook == Hook::stop) fate.late = 700ms;
      return fate;
    };
    return options;
  };
  const auto cut = [](lab::World& world) {
    for (std::uint32_t node : {4u, 5u}) world.cut(id(node), {id(1), id(2), id(3)});
  };
  BOOST_TEST(after(slow(Quorum::majority), cut).apart.count() == 0);
  BOOST_TEST(after(slow(Quorum::off), cut).apart > 100ms);
}

BOOST_AUTO_TEST_CASE(two_candidates_that_do_not_hear_each_other_do_not_halt_all_in_turn) {
  const auto cut = [](lab::World& world) { world.cut(id(5), {id(4)}); };
  const Work work = after(with_quorum(), cut);
  BOOST_TEST(work.apart.count() == 0);
  for (std::uint32_t node : {1u, 2u, 3u, 5u}) BOOST_TEST(work.share(node, minute) > 0.95, node);
  BOOST_TEST(work.groups <= 2u);
  BOOST_TEST(after(with_quorum(Quorum::off), cut).groups > 20u);
}

BOOST_AUTO_TEST_CASE(a_node_that_hears_one_other_alone_is_left_alone) {
  const Work work = after(with_quorum(), [](lab::World& world) {
    world.cut(id(5), {id(1), id(2), id(3)});
  });
  BOOST_TEST(work.apart.count() == 0);
  for (std::uint32_t node : {1u, 2u, 3u, 4u}) BOOST_TEST(work.share(node, minute) > 0.9, node);
}

BOOST_AUTO_TEST_CASE(a_cut_in_one_direction_costs_the_others_little) {
  for (const auto& [from, to] : {std::pair{5u, 4u}, {4u, 5u}, {5u, 1u}, {1u, 5u}}) {
    const Work work =
        after(with_quorum(), [&](lab::World& world) { world.cut_one_way(id(from), id(to)); });
    BOOST_TEST(work.apart.count() == 0);
    for (std::uint32_t node : {2u, 3u}) BOOST_TEST(work.share(node, minute) > 0.95, node);
  }
}

BOOST_AUTO_TEST_CASE(a_link_that_is_up_and_down_never_has_two_groups_at_work) {
  const Work work = after(with_quorum(), [](lab::World& world) {
    for (int second = 0; second < 30; ++second) {
      world.cut(id(1), {id(2), id(3), id(4), id(5)});
      world.run_for(1s);
      world.heal();
      world.run_for(1s);
    }
  });
  BOOST_TEST(work.apart.count() == 0);
}

// At node 1 the commit before `start` takes so long that the node's right has expired when the
// commit ends.
BOOST_AUTO_TEST_CASE(a_start_that_would_begin_beyond_its_right_is_not_called) {
  lab::WorldOptions options = with_quorum();
  options.commit_time = [](NodeId node) -> Duration { return node == id(1) ? 300ms : 1ms; };
  lab::World world(options);
  world.run_for(5s);
  std::size_t late = 0;
  Moment right{};
  for (const journal::Line& line : world.lines()) {
    if (const auto* step = std::get_if<journal::Step>(&line); step && step->stamp.node == id(1)) {
      for (const Action& action : step->actions)
        if (const auto* given = std::get_if<Right>(&action)) right = given->until;
      const auto* failed = std::get_if<HookFailed>(&step->event);
      late += failed && failed->why == "the right to work was over before it began" ? 1 : 0;
    }
    const auto* edge = std::get_if<journal::HookEdge>(&line);
    if (edge && edge->stamp.node == id(1) && edge->hook == Hook::start)
      BOOST_TEST((edge->stamp.t < right || edge->edge != journal::Edge::begin));
  }
  BOOST_TEST(late > 0u);
  BOOST_TEST(world.verify().holds());
}

BOOST_AUTO_TEST_CASE(a_crash_costs_no_more_than_without) {
  const auto time_of = [](Quorum quorum) {
    lab::WorldOptions options = with_quorum(quorum);
    options.most_delay = options.least_delay = 100us;
    lab::World world(options);
    BOOST_REQUIRE(world.run_until_normal());
    const Duration from = world.now();
    world.fail(id(5));
    BOOST_REQUIRE(world.run_until_normal());
    return world.now() - from;
  };
  const Duration without = time_of(Quorum::off);
  BOOST_TEST(time_of(Quorum::majority) < without + 1ms);
}

BOOST_AUTO_TEST_CASE(a_silent_coordinator_costs_what_is_said) {
  lab::WorldOptions options = with_quorum();
  const Timings timings = options.timings;
  lab::World world(options);
  BOOST_REQUIRE(world.run_until_normal());
  const Duration from = world.now();
  world.power_cut(id(5));
  BOOST_REQUIRE(world.run_until_normal());
  const Duration took = world.now() - from;
  const Duration ceased = ceases_within(timings, {});
  BOOST_TEST(took > ceased);
  BOOST_TEST(took < timings.coordinator_timeout + timings.T + ceased + granted_for(timings));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
