#include <muster/host/hold_down.hpp>
#include <muster/lab/world.hpp>

#include <boost/test/unit_test.hpp>

// The option hold_down: what it does, and how much it helps.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

HoldDown after(std::uint64_t short_lives) {
  return HoldDown(Bytes{std::to_string(short_lives)});
}

BOOST_AUTO_TEST_SUITE(hold_down)

BOOST_AUTO_TEST_CASE(the_wait_doubles_with_each_short_life_up_to_five_minutes) {
  BOOST_TEST(HoldDown(std::nullopt).wait(1s) == 0s);
  BOOST_TEST(after(1).wait(1s) == 1s);
  BOOST_TEST(after(2).wait(1s) == 2s);
  BOOST_TEST(after(9).wait(1s) == 256s);
  BOOST_TEST(after(10).wait(1s) == 5min);
  BOOST_TEST(after(~std::uint64_t{}).wait(1s) == 5min);
  BOOST_TEST(after(3).wait(100ms) == 400ms);
  BOOST_TEST(after(3).wait(1h) == 5min);
}

BOOST_AUTO_TEST_CASE(where_it_is_off_nothing_waits) {
  BOOST_TEST(after(1).wait(0s) == 0s);
  BOOST_TEST(after(~std::uint64_t{}).wait(0s) == 0s);
}

BOOST_AUTO_TEST_CASE(each_life_counts_as_short_until_it_has_lasted) {
  const CellBatch begins = after(3).begins();
  BOOST_TEST_REQUIRE(begins.writes.size() == 1u);
  BOOST_TEST(HoldDown(begins.writes.front().value).short_lives() == 4u);
  BOOST_TEST(begins.writes.front().key.starts_with(own_cells));
  BOOST_TEST(HoldDown(after(3).as_before().writes.front().value).short_lives() == 3u);
  BOOST_TEST(!HoldDown::has_lasted().writes.front().value.has_value());
  BOOST_TEST(HoldDown(Bytes{"no number"}).short_lives() == 0u);
}

BOOST_AUTO_TEST_CASE(the_sentence_says_how_long_and_why) {
  BOOST_TEST(
      after(1).sentence(NodeId{3}, 1s) ==
      "node 3 waits 1 s before it listens: its last life lasted for less than 1 s (hold_down)");
  BOOST_TEST(after(2).sentence(NodeId{3}, 200ms) ==
             "node 3 waits 200 ms before it listens: each of its last 2 lives lasted for less than "
             "1 s (hold_down)");
}

lab::WorldOptions held_down(Duration shortest) {
  lab::WorldOptions options;
  options.nodes = 3;
  options.hold_down = shortest;
  return options;
}

BOOST_AUTO_TEST_CASE(a_life_that_lasted_is_not_waited_for) {
  lab::World world(held_down(1s));
  BOOST_REQUIRE(world.run_until_normal());
  world.run_for(1s);
  world.fail(NodeId{1});
  BOOST_TEST(world.restart(NodeId{1}));
  BOOST_TEST(world.is_up(NodeId{1}));
}

BOOST_AUTO_TEST_CASE(short_lives_are_waited_for_longer_and_longer_until_one_lasts) {
  lab::World world(held_down(1s));
  BOOST_REQUIRE(world.run_until_normal());
  for (const Duration wait : {1s, 2s, 4s}) {
    world.fail(NodeId{1});
    BOOST_TEST(world.restart(NodeId{1}));
    BOOST_TEST(!world.restart(NodeId{1}));  // the node waits already
    world.run_for(wait - 1ms);
    BOOST_TEST(!world.is_up(NodeId{1}));
    world.run_for(2ms);
    BOOST_TEST(world.is_up(NodeId{1}));
    BOOST_TEST(world.cells(NodeId{1}).empty());  // the count is the node's own
  }
  world.run_for(1s);
  world.fail(NodeId{1});
  world.restart(NodeId{1});
  BOOST_TEST(world.is_up(NodeId{1}));
  BOOST_TEST(world.verify().holds());
}

/// The share of the time in which nodes 2 and 3 work while node 1 is in a crash loop. Each life of
/// node 1 ends 300 ms after its beginning, and the test starts node 1 again at once. Each stop
/// takes 500 ms.
double worked_beside_a_crash_loop(Duration shortest, Duration time) {
  lab::WorldOptions options = held_down(shortest);
  options.keep_lines = false;
  options.hook_fate = [](NodeId, Hook hook) {
    lab::HookFate fate;
    if (hook == Hook::stop) fate.late = 500ms;
    return fate;
  };
  lab::World world(options);
  constexpr Duration slice = 10ms;
  int slices = 0;
  int worked = 0;
  Duration lived{};
  while (world.now() < time) {
    lived = world.is_up(NodeId{1}) ? lived + slice : Duration::zero();
    if (lived >= 300ms) world.fail(NodeId{1});
    world.restart(NodeId{1});
    world.run_for(slice);
    ++slices;
    if (world.view(NodeId{2}).status == Status::Normal &&
        world.view(NodeId{3}).status == Status::Normal)
      ++worked;
  }
  return static_cast<double>(worked) / slices;
}

// Nodes 2 and 3 work for 0.1 % of the time without hold_down, and for 99 % with it
// (docs/explanation/options.md).
BOOST_AUTO_TEST_CASE(a_low_node_in_a_crash_loop_does_not_keep_the_others_from_working) {
  const double with = worked_beside_a_crash_loop(1s, 10min);
  const double without = worked_beside_a_crash_loop(0s, 1min);
  BOOST_TEST_MESSAGE("nodes 2 and 3 worked for " << 100 * with << " % of their time, without it "
                                                 << 100 * without << " %");
  BOOST_TEST(with > 0.9);
  BOOST_TEST(without < 0.2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
