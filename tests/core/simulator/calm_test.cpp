#include <muster/lab/world.hpp>

#include <boost/test/unit_test.hpp>

// What calm is worth (docs/options/calm.md): a minute each, five nodes, T = 100 ms.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

lab::WorldOptions world_with(const Options& options) {
  lab::WorldOptions world;
  world.options = options;
  world.keep_lines = false;
  return world;
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

/// Its disk is slow from then on.
double beside_slow_disk(NodeId bad, const Options& options) {
  bool slow = false;
  lab::WorldOptions how = world_with(options);
  how.commit_time = [bad, &slow](NodeId id) {
    return slow && id == bad ? Duration(120ms) : Duration(1ms);
  };
  lab::World world(how);
  return work_beside(world, bad, [&](int second) {
    slow = true;
    if (second > 0) return;
    world.fail(bad);
    world.restart(bad);
  });
}

double beside_flapping(NodeId bad, const Options& options) {
  lab::World world(world_with(options));
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

double beside_pauses(NodeId bad, const Options& options) {
  lab::World world(world_with(options));
  return work_beside(world, bad,
                     [&](int second) { second % 2 == 0 ? world.pause(bad) : world.resume(bad); });
}

using Beside = double (*)(NodeId bad, const Options& options);

void reaches(double goal, const char* what, Beside beside, NodeId bad, Quorum quorum) {
  Options options;
  options.quorum = quorum;
  const double without = beside(bad, options);
  options.calm = 1s;
  const double with = beside(bad, options);
  BOOST_TEST_MESSAGE(what << " of node " << bad << ", quorum " << quorum
                          << ": the others worked for " << 100 * with
                          << " % of a minute, without calm " << 100 * without << " %");
  BOOST_TEST(with > goal, what);
  BOOST_TEST(with > without, what);
}

BOOST_AUTO_TEST_SUITE(calm)

BOOST_AUTO_TEST_CASE(one_bad_node_does_not_cost_the_others_their_work) {
  for (const Quorum quorum : {Quorum::off, Quorum::majority}) {
    for (std::uint32_t node : {1U, 5U}) {
      const NodeId bad{node};
      // Each time that a coordinator falls silent for a second costs that second (quorum.md).
      const double where_it_may_be_silent = quorum == Quorum::majority && node == 5 ? 0.9 : 0.95;
      reaches(0.95, "the slow disk", beside_slow_disk, bad, quorum);
      reaches(where_it_may_be_silent, "the link", beside_flapping, bad, quorum);
      reaches(where_it_may_be_silent, "the pauses", beside_pauses, bad, quorum);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
