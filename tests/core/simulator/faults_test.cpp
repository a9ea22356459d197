#include <muster/lab/world.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

// Faults of the nodes in a world, and the duties of the world as their host.

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using muster::operator==;
using muster::operator<<;

void all_holds(const lab::World& world) {
  for (const verify::Verdict& verdict : world.verify().verdicts)
    if (const auto* violated = std::get_if<verify::Violated>(&verdict))
      BOOST_ERROR(violated->assertion + ": " + violated->disagreement.why);
}

/// The number of events of that kind at that node.
template <class E>
std::size_t events(const lab::World& world, NodeId node) {
  return static_cast<std::size_t>(
      std::count_if(world.lines().begin(), world.lines().end(), [&](const journal::Line& line) {
        const auto* step = std::get_if<journal::Step>(&line);
        return step && step->stamp.node == node && std::holds_alternative<E>(step->event);
      }));
}

struct Formed {
  lab::World world;
  explicit Formed(std::uint32_t nodes = 3) : world(nodes, 7) {
    BOOST_REQUIRE(world.run_until_normal());
  }
};

BOOST_FIXTURE_TEST_CASE(a_refused_connection_proves_the_end_of_a_life_long_before_silence, Formed) {
  const Duration before = world.now();
  world.fail(NodeId{3});
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.now() - before < world.config(NodeId{1}).timings.T);
  BOOST_TEST(events<Failed>(world, NodeId{2}) == 1u);
  all_holds(world);
}

BOOST_FIXTURE_TEST_CASE(a_machine_without_power_is_known_by_silence_alone, Formed) {
  const Duration before = world.now();
  world.power_cut(NodeId{3});
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.now() - before > world.config(NodeId{1}).timings.T);
  BOOST_TEST(events<Failed>(world, NodeId{2}) == 0u);
  all_holds(world);
}

BOOST_FIXTURE_TEST_CASE(a_broken_connection_loses_nothing_and_proves_nothing, Formed) {
  const std::optional<GroupNumber> group = world.view(NodeId{1}).group;
  for (int times = 0; times < 50; ++times) {
    BOOST_TEST(world.reset(NodeId{1}, NodeId{3}));
    world.run_for(world.config(NodeId{1}).timings.T);
  }
  BOOST_TEST(world.is_normal());
  BOOST_TEST(world.view(NodeId{1}).group == group);
  BOOST_TEST(events<Failed>(world, NodeId{1}) + events<Failed>(world, NodeId{3}) == 0u);
  all_holds(world);
}

// If a node believed the first of these letters, it would ignore the real node 3. If a node
// believed the second letter, it would end the group.
BOOST_FIXTURE_TEST_CASE(a_letter_whose_tags_lie_changes_nothing, Formed) {
  const std::optional<GroupNumber> group = world.view(NodeId{1}).group;
  const Incarnation far{highest_number - 1};
  for (const Message& lie : {Message{Halt{{NodeId{3}, far, 1}}}, Message{Halt{{NodeId{2}, far, 1}}},
                             Message{AreYouNormal{{9, NodeId{2}}}}}) {
    BOOST_TEST(world.forge(NodeId{3}, NodeId{1}, lie));
    world.run_for(world.config(NodeId{1}).timings.T);
    BOOST_TEST(world.is_normal());
    BOOST_TEST(world.view(NodeId{1}).group == group);
  }
  BOOST_TEST(world.forged() == 3u);
  world.fail(NodeId{3});
  BOOST_TEST(world.run_until_normal());
  world.restart(NodeId{3});
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 3u);
  all_holds(world);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_paused_for_long_is_told_so_before_anything_else, Formed) {
  world.pause(NodeId{3});
  world.run_for(2s);
  BOOST_TEST(world.view(NodeId{2}).coordinator.value().value == 2u);
  // It has not noticed the pause.
  BOOST_TEST(world.view(NodeId{3}).coordinator.value().value == 3u);
  world.resume(NodeId{3});
  BOOST_TEST(events<Paused>(world, NodeId{3}) == 1u);
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{2}).coordinator.value().value == 3u);
  all_holds(world);
}

BOOST_FIXTURE_TEST_CASE(a_short_pause_is_none, Formed) {
  world.pause(NodeId{3});
  world.run_for(world.config(NodeId{3}).timings.T / 3);
  world.resume(NodeId{3});
  BOOST_TEST(events<Paused>(world, NodeId{3}) == 0u);
  world.run_for(1s);
  BOOST_TEST(world.is_normal());
  all_holds(world);
}

BOOST_AUTO_TEST_CASE(a_partition_makes_two_groups_and_its_end_makes_one) {
  Formed formed(5);
  lab::World& world = formed.world;
  for (std::uint32_t low : {1u, 2u}) world.cut(NodeId{low}, {NodeId{3}, NodeId{4}, NodeId{5}});
  world.run_for(2s);
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 2u);
  BOOST_TEST(world.view(NodeId{3}).coordinator.value().value == 5u);
  BOOST_TEST(!world.is_normal());
  world.heal();
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 5u);
  all_holds(world);
}

BOOST_AUTO_TEST_CASE(a_link_that_is_cut_one_way_is_silent) {
  Formed formed(2);
  lab::World& world = formed.world;
  world.cut_one_way(NodeId{2}, NodeId{1});
  world.run_for(1s);
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 1u);
  world.heal();
  BOOST_TEST(world.run_until_normal());
  all_holds(world);
}

BOOST_FIXTURE_TEST_CASE(an_emptied_store_begins_a_life_above_those_that_were_seen, Formed) {
  for (int times = 0; times < 3; ++times) {
    world.fail(NodeId{2});
    world.run_for(100ms);
    world.restart(NodeId{2});
    BOOST_TEST(world.run_until_normal());
  }
  BOOST_TEST(world.safe(NodeId{2}).incarnation.value == 4u);
  world.power_cut(NodeId{2});
  BOOST_TEST(world.wipe(NodeId{2}));
  BOOST_TEST(world.safe(NodeId{2}) == SafeState{});
  world.restart(NodeId{2});
  BOOST_TEST(world.run_until([&] { return world.safe(NodeId{2}).incarnation.value > 4; }, 5s));
  BOOST_TEST(world.run_until_normal());
  all_holds(world);
}

BOOST_AUTO_TEST_CASE(without_being_told_to_adopt_one_it_stays_out) {
  lab::WorldOptions options;
  options.nodes = 3;
  options.initialise = false;
  lab::World world(options);
  BOOST_REQUIRE(world.run_until_normal());
  world.fail(NodeId{1});
  world.restart(NodeId{1});
  BOOST_REQUIRE(world.run_until_normal());
  world.power_cut(NodeId{1});
  world.wipe(NodeId{1});
  world.restart(NodeId{1});
  BOOST_TEST(world.run_until([&] { return !world.is_up(NodeId{1}); }, 5s));
  const auto last =
      std::find_if(world.lines().rbegin(), world.lines().rend(),
                   [](const auto& line) { return std::holds_alternative<journal::Ended>(line); });
  BOOST_REQUIRE(last != world.lines().rend());
  BOOST_TEST(std::get<journal::Ended>(*last).code == 65);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_leaves_is_gone_in_order, Formed) {
  world.leave(NodeId{3});
  BOOST_TEST(world.run_until([&] { return !world.is_up(NodeId{3}); }, 5s));
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 2u);
  all_holds(world);
}

BOOST_AUTO_TEST_CASE(hooks_that_fail_again_and_again_make_a_node_stand_back_and_return) {
  lab::WorldOptions options;
  options.nodes = 3;
  bool fails = true;
  options.hook_fate = [&](NodeId node, Hook hook) {
    lab::HookFate fate;
    if (fails && node == NodeId{3} && hook == Hook::reorganize) fate.fails = "it always fails";
    return fate;
  };
  lab::World world(options);
  BOOST_TEST(world.run_until([&] { return !world.is_up(NodeId{3}); }, 60s));
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 2u);
  fails = false;
  BOOST_TEST(world.run_until([&] { return world.is_up(NodeId{3}); }, 5s));
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(world.view(NodeId{1}).coordinator.value().value == 3u);
  all_holds(world);
}

BOOST_AUTO_TEST_CASE(a_commit_that_takes_long_makes_what_waited_a_pause) {
  lab::WorldOptions options;
  options.nodes = 3;
  bool slow = false;
  options.commit_time = [&](NodeId node) -> Duration {
    return slow && node == NodeId{2} ? options.timings.T * 2 : Duration(1ms);
  };
  lab::World world(options);
  BOOST_REQUIRE(world.run_until_normal());
  slow = true;
  world.fail(NodeId{3});
  world.run_for(2s);
  slow = false;
  BOOST_TEST(world.run_until_normal());
  BOOST_TEST(events<Paused>(world, NodeId{2}) > 0u);
  all_holds(world);
}

}  // namespace
}  // namespace muster::test
