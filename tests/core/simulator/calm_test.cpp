#include <muster/lab/world.hpp>

#include <boost/test/unit_test.hpp>

// What calm is worth (docs/options/calm.md): a minute each, five nodes, T = 100 ms.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

lab::WorldOptions world_with(Duration calm) {
  lab::WorldOptions options;
  options.options.calm = calm;
  options.keep_lines = false;
  return options;
}

/// The disk of that node is slow once all are Normal.
lab::WorldOptions slow_disk(NodeId node, Duration calm, const bool& slow) {
  lab::WorldOptions options = world_with(calm);
  options.commit_time = [node, &slow](NodeId id) {
    return slow && id == node ? Duration(120ms) : Duration(1ms);
  };
  return options;
}

/// The part of a minute for which the nodes but `bad` are Normal in one group. `act` is called at
/// the beginning of each second of it.
template <class Act>
double work_beside(lab::World& world, NodeId bad, Act act) {
  BOOST_REQUIRE(world.run_until_normal());
  constexpr Duration slice = 5ms;
  constexpr int in_a_second = 1s / slice;
  int worked = 0;
  for (int i = 0; i < 60 * in_a_second; ++i) {
    if (i % in_a_second == 0) act(i / in_a_second);
    world.run_for(slice);
    std::optional<GroupNumber> group;
    bool all = true;
    for (std::uint32_t id = 1; id <= 5; ++id) {
      if (NodeId{id} == bad) continue;
      const View& view = world.view(NodeId{id});
      all = all && view.status == Status::Normal && (!group || group == view.group);
      group = view.group;
    }
    if (all) ++worked;
  }
  return worked / (60.0 * in_a_second);
}

double beside_slow_disk(NodeId bad, Duration calm) {
  bool slow = false;
  lab::World world(slow_disk(bad, calm, slow));
  return work_beside(world, bad, [&](int second) {
    slow = true;
    if (second > 0) return;
    world.fail(bad);
    world.restart(bad);
  });
}

double beside_flapping(NodeId bad, Duration calm) {
  lab::World world(world_with(calm));
  return work_beside(world, bad, [&](int second) {
    if (second % 2 == 1) {
      world.heal();
      return;
    }
    NodeSet others;
    for (std::uint32_t id = 1; id <= 5; ++id)
      if (NodeId{id} != bad) others.insert(NodeId{id});
    world.cut(bad, others);
  });
}

double beside_pauses(NodeId bad, Duration calm) {
  lab::World world(world_with(calm));
  return work_beside(world, bad,
                     [&](int second) { second % 2 == 0 ? world.pause(bad) : world.resume(bad); });
}

void goal(const char* what, double with, double without) {
  BOOST_TEST_MESSAGE(what << ": the others worked for " << 100 * with << " % of a minute, without "
                          << 100 * without << " %");
  BOOST_TEST(with > 0.95, what);
  BOOST_TEST(with > without, what);
}

BOOST_AUTO_TEST_SUITE(calm)

BOOST_AUTO_TEST_CASE(one_bad_node_does_not_cost_the_others_their_work) {
  for (std::uint32_t node : {1U, 5U}) {
    const NodeId bad{node};
    goal("a slow disk", beside_slow_disk(bad, 1s), beside_slow_disk(bad, 0s));
    goal("a link that flaps", beside_flapping(bad, 1s), beside_flapping(bad, 0s));
    goal("a process that pauses", beside_pauses(bad, 1s), beside_pauses(bad, 0s));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
