#include <muster/lab/world.hpp>
#include <muster/services.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <utility>
#include <vector>

// The value of calm (docs/explanation/options/calm.md): runs of one minute with five nodes and T =
// 100 ms.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

lab::WorldOptions world_with(const Options& options) {
  lab::WorldOptions world;
  world.options = options;
  world.keep_lines = false;
  return world;
}

/// Runs the world for a minute. Returns the share of that minute for which all nodes except `bad`
/// are Normal in one group. `act` is called at the beginning of each second.
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

/// From then on the disk of node `id` is slow.
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
      // With a quorum, the others cannot work in a second in which the coordinator is silent
      // (docs/explanation/options/quorum.md).
      const double where_it_may_be_silent = quorum == Quorum::majority && node == 5 ? 0.9 : 0.95;
      reaches(0.95, "the slow disk", beside_slow_disk, bad, quorum);
      reaches(where_it_may_be_silent, "the link", beside_flapping, bad, quorum);
      reaches(where_it_may_be_silent, "the pauses", beside_pauses, bad, quorum);
    }
  }
}

/// Runs the world for half a minute. Returns the share of that time in which each node works. `act`
/// is called at the beginning of each tenth of a second.
template <class Act>
std::vector<double> shares(lab::WorldOptions options, Act act) {
  lab::World world(std::move(options));
  for (int i = 0; i < 300; ++i) world.run_for(10ms);
  constexpr Duration slice = 2ms;
  constexpr int in_a_tenth = 100ms / slice;
  std::vector<double> worked(world.nodes().size());
  for (int i = 0; i < 300 * in_a_tenth; ++i) {
    if (i % in_a_tenth == 0) act(world, i / in_a_tenth);
    world.run_for(slice);
    for (NodeId node : world.nodes())
      if (world.view(node).status == Status::Normal) worked[node.value - 1] += 1.0;
  }
  for (double& share : worked) share /= 300 * in_a_tenth;
  return worked;
}

using ActInTenths = void (*)(lab::World& world, int tenth);

NodeSet nodes_of(std::initializer_list<std::uint32_t> ids) {
  NodeSet nodes;
  for (std::uint32_t id : ids) nodes.insert(NodeId{id});
  return nodes;
}

void nobody_is_worse_off(const char* what, ActInTenths act, const NodeSet& bad) {
  lab::WorldOptions options = world_with(Options{});
  const std::vector<double> without = shares(options, act);
  options.options.calm = 1s;
  const std::vector<double> with = shares(options, act);
  for (std::size_t i = 0; i < with.size(); ++i) {
    BOOST_TEST_MESSAGE(what << ", node " << i + 1 << ": at work for " << 100 * with[i]
                            << " %, without calm " << 100 * without[i] << " %");
    if (!bad.contains(NodeId{static_cast<std::uint32_t>(i + 1)}))
      BOOST_TEST(with[i] >= 0.95 * without[i], what << ", node " << i + 1);
  }
}

BOOST_AUTO_TEST_CASE(no_sound_node_works_less_with_calm_than_without) {
  nobody_is_worse_off("3 is cut from 4 and 5",
                      [](lab::World& world, int tenth) {
                        if (tenth == 0) world.cut(NodeId{3}, nodes_of({4, 5}));
                      },
                      {});
  nobody_is_worse_off("4 is cut from 5",
                      [](lab::World& world, int tenth) {
                        if (tenth == 0) world.cut(NodeId{5}, nodes_of({4}));
                      },
                      {});
  nobody_is_worse_off("2 is cut from all but 1",
                      [](lab::World& world, int tenth) {
                        if (tenth == 0) world.cut(NodeId{2}, nodes_of({3, 4, 5}));
                      },
                      {});
  nobody_is_worse_off("1 and 2 are cut from the others every other second",
                      [](lab::World& world, int tenth) {
                        if (tenth % 20 == 10) world.heal();
                        if (tenth % 20 != 0) return;
                        for (std::uint32_t id : {1U, 2U})
                          world.cut(NodeId{id}, nodes_of({3, 4, 5}));
                      },
                      {});
  nobody_is_worse_off(
      "the coordinator is cut off for 0.2 s, again and again",
      [](lab::World& world, int tenth) {
        if (tenth % 13 == 0) world.cut(NodeId{5}, nodes_of({1, 2, 3, 4}));
        if (tenth % 13 == 2) world.heal();
      },
      nodes_of({5}));
}

/// An application whose `start` fails whenever its group has other members.
struct Unsociable : Application {
  explicit Unsociable(Services& services) : node(services) {}
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    done({std::to_string(reorganization.group.counter)});
  }
  void start(Assignment task, Done<> done) override {
    if (node.self() == NodeId{1} && task.members.size() > 1)
      done.fail("too many");
    else
      done();
  }
  Services& node;
};

// Nodes 1 and 2 fail together, so the others cannot tell which of the two is to blame.
BOOST_AUTO_TEST_CASE(of_two_that_are_cut_off_together_none_is_held_with_a_quorum_either) {
  for (const Quorum quorum : {Quorum::off, Quorum::majority}) {
    Options options;
    options.calm = 1s;
    options.quorum = quorum;
    lab::World world(world_with(options));
    BOOST_REQUIRE(world.run_until_normal());
    const NodeSet others{NodeId{3}, NodeId{4}, NodeId{5}};
    for (int i = 0; i < 4; ++i) {
      for (NodeId node : {NodeId{1}, NodeId{2}}) world.cut(node, others);
      world.run_for(2500ms);
      world.heal();
      BOOST_REQUIRE(world.run_until_normal());
      BOOST_TEST(world.view(NodeId{5}).held.by_node.empty());
      world.run_for(2s);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_node_whose_start_fails_in_company_costs_itself) {
  for (const ProtocolName protocol : {ProtocolName::bully, ProtocolName::invitation}) {
    lab::WorldOptions options = world_with(Options{});
    options.protocol = protocol;
    if (protocol == ProtocolName::bully) options.options.calm = 1s;
    options.make_application = [](Services& services) {
      return std::make_unique<Unsociable>(services);
    };
    lab::World world(options);
    int together = 0;
    constexpr int slices = 200s / 10ms;
    for (int i = 0; i < slices; ++i) {
      world.run_for(10ms);
      bool all = true;
      for (std::uint32_t id = 2; id <= 5; ++id) {
        const View view = world.view(NodeId{id});
        all = all && view.status == Status::Normal && view.group == world.view(NodeId{5}).group;
      }
      if (all) ++together;
    }
    BOOST_TEST_MESSAGE(protocol << ": the others are together for " << 100.0 * together / slices
                                << " % of 200 s");
    BOOST_TEST(together > 0.95 * slices, "with the " << protocol);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
