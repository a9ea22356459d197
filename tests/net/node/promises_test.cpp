#include "cluster.hpp"
#include "storages.hpp"
#include "words.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

/// What an application is promised (docs/architecture.md, P1 to P8), on real nodes. The hook
/// grammar and the assertions run over the journals of each test.

using namespace muster;
using test::Called;
using test::Cluster;
using test::Cue;
using test::Words;

namespace {

Words names(const std::vector<Called>& calls) {
  Words all;
  for (const Called& called : calls) all.push_back(to_text(called.hook));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(promises)

BOOST_AUTO_TEST_CASE(p1_no_permit_is_valid_once_a_halt_is_answered) {
  Cluster cluster;
  cluster.join_all();
  auto permit = cluster.stage.services(NodeId{1}).permits().try_acquire();
  BOOST_TEST_REQUIRE(permit.has_value());
  BOOST_TEST(permit->valid());
  const std::size_t before = cluster.journals.count(NodeId{2});
  cluster.kill(3);
  cluster.await_line(2, "the answer of 1 to its Halt", before,
                     test::is_answer_from<Halted>(NodeId{1}));
  BOOST_TEST(!permit->valid());
  BOOST_TEST(!cluster.stage.services(NodeId{1}).permits().try_acquire().has_value());
  permit.reset();  // STOP waits for it
  cluster.await_group({1, 2});
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(p1_no_permit_is_valid_once_an_own_election_began) {
  Cluster cluster;
  const GroupNumber group = cluster.join_all();
  auto permit = cluster.stage.services(NodeId{2}).permits().try_acquire();
  BOOST_TEST_REQUIRE(permit.has_value());
  BOOST_TEST((permit->group() == group));
  cluster.kill(3);
  cluster.await_halted(1, 2);
  BOOST_TEST(!permit->valid());
  permit.reset();
  cluster.await_group({1, 2});
  cluster.judge();
}

// The new group waits for the last permit of the old one, wherever it is held.
BOOST_AUTO_TEST_CASE(p1_a_member_has_joined_when_its_last_permit_is_back) {
  Cluster cluster;
  cluster.join_all();
  auto permit = cluster.stage.services(NodeId{1}).permits().try_acquire();
  const std::size_t before = cluster.journals.count(NodeId{1});
  // While the group formed node 2 may have reorganized a smaller one.
  const std::size_t reorganized = cluster.stage.count(NodeId{2}, Hook::reorganize);
  cluster.kill(3);
  cluster.await_line(1, "the end of its permits", before, test::is_line<journal::Permits>);
  cluster.await_line(1, "NewCoordinator", before, test::is_letter<NewCoordinator>);
  BOOST_TEST(cluster.stage.count(NodeId{2}, Hook::reorganize) == reorganized);
  permit.reset();
  cluster.await_group({1, 2});
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(p2_a_life_begins_with_a_stop_and_each_start_has_one_after_it) {
  Cluster cluster({.nodes = 2});
  cluster.join(1);
  cluster.join(2);
  cluster.lose(2);
  cluster.leave(1);
  const auto calls = cluster.stage.calls(NodeId{1});
  BOOST_TEST(names(calls) == (Words{"stop", "reorganize", "start", "stop", "start", "stop",
                                    "reorganize", "start", "stop"}));
  BOOST_TEST(!calls[0].group.has_value());
  BOOST_TEST((calls[3].group == calls[2].group));
  BOOST_TEST((calls[5].group == calls[4].group));
  BOOST_TEST((calls[3].cause.reason == StopReason::halted));
  BOOST_TEST((calls[3].cause.by == NodeId{2}));
  BOOST_TEST((calls[5].cause.reason == StopReason::own_election));
  BOOST_TEST((calls[8].cause.reason == StopReason::leaving));
  for (const Called& called : cluster.stage.calls()) BOOST_TEST(!called.beside_another);
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(p3_hooks_run_on_the_executor_of_the_user_and_under_no_lock) {
  Cluster cluster({.nodes = 1});
  std::string status;
  Activity activity{};
  for (Hook hook : {Hook::stop, Hook::reorganize, Hook::start})
    cluster.stage.play(NodeId{1}, hook, [&](Cue cue) {
      status = cluster.node(1).status_json();
      activity = cluster.node(1).view().application;
      Services& services = cluster.stage.services(NodeId{1});
      (void)services.permits().try_acquire();
      services.post([] {});
      services.write({"k", {"v"}}, [] {});
      services.scan("", [](const auto&) {});
      cue.complete();
    });
  cluster.join(1);
  const auto users = cluster.hooks(1).threads();
  for (const Called& called : cluster.stage.calls()) BOOST_TEST(users.contains(called.thread));
  BOOST_TEST(cluster.stage.calls().size() == 3u);
  cluster.leave_all();
  BOOST_TEST(status.find("\"node\":1") != std::string::npos);
  BOOST_TEST((activity == Activity::Stopping));
  cluster.judge();
}

// The highest node wins, whatever it holds; it is told who holds something.
BOOST_AUTO_TEST_CASE(p4_reorganize_sees_every_member_with_what_it_holds) {
  Cluster cluster;
  cluster.start(1);
  const GroupNumber before = cluster.join(2);
  cluster.stage.hold(NodeId{3}, Hook::reorganize);
  cluster.start(3);
  Cue cue = cluster.stage.take(NodeId{3}, Hook::reorganize);
  const Members& members = cue.about.members;
  BOOST_TEST_REQUIRE(members.size() == 3u);
  const auto assigned =
      cluster.stage.calls(NodeId{1}).at(cluster.stage.calls(NodeId{1}).size() - 2);
  for (std::uint32_t id = 1; id <= 3; ++id) {
    const Member& member = members[id - 1];
    BOOST_TEST((member.node == NodeId{id}));
    BOOST_TEST((member.incarnation == Incarnation{1}));
    BOOST_TEST((member.holdings.report == test::usual_report(NodeId{id})));
    BOOST_TEST(member.holdings.empty == (id == 3));
    BOOST_TEST((member.holdings.group == (id == 3 ? std::nullopt : std::optional(before))));
    if (id != 3) {
      BOOST_TEST((assigned.hook == Hook::start));
      BOOST_TEST((member.holdings.definition == assigned.digest));
    }
  }
  // Every member is stopped.
  for (std::uint32_t id = 1; id <= 2; ++id)
    BOOST_TEST((cluster.stage.calls(NodeId{id}).back().hook == Hook::stop));
  cue.complete();
  cluster.await_group({1, 2, 3});
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(hooks_are_told_who_was_lost_and_who_came_back) {
  Cluster cluster;
  cluster.join_all();
  cluster.lose(3);
  const Called lost = cluster.stage.calls(NodeId{1}).back();
  BOOST_TEST((lost.hook == Hook::start));
  BOOST_TEST((lost.lost == NodeSet{NodeId{3}}));
  BOOST_TEST((lost.came_back == NodeSet{}));
  cluster.join(3);
  for (std::uint32_t id = 1; id <= 2; ++id) {
    const Called back = cluster.stage.calls(NodeId{id}).back();
    BOOST_TEST((back.lost == NodeSet{}));
    BOOST_TEST((back.came_back == NodeSet{NodeId{3}}));
  }
  // What its safe storage told node 3 is the group of all three.
  const Called own = cluster.stage.calls(NodeId{3}).back();
  BOOST_TEST((own.came_back == NodeSet{}));
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(p5_a_definition_is_durable_before_start_is_called) {
  Cluster cluster({.nodes = 2});
  std::atomic<int> durable = 0;
  for (std::uint32_t id = 1; id <= 2; ++id)
    cluster.stage.play(NodeId{id}, Hook::start, [&, kept = &cluster.cells(id)](Cue cue) {
      const auto& assigned = kept->safe.assigned;
      const auto task = assigned ? decode<Task>(assigned->definition.data) : Task{};
      if (task && task->definition == cue.about.definition && assigned->group == cue.about.group)
        ++durable;
      cue.complete();
    });
  cluster.join(2);
  cluster.join(1);
  const auto starts =
      cluster.stage.count(NodeId{1}, Hook::start) + cluster.stage.count(NodeId{2}, Hook::start);
  BOOST_TEST(static_cast<std::size_t>(durable) == starts);
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(p6_a_restarted_node_reports_and_does_not_resume) {
  Cluster cluster;
  const GroupNumber before = cluster.join_all();
  for (std::uint32_t id = 1; id <= 3; ++id) cluster.kill(id);
  const auto called = static_cast<std::ptrdiff_t>(cluster.stage.calls(NodeId{1}).size());
  const GroupNumber after = cluster.join(1);
  BOOST_TEST((before < after));
  auto calls = cluster.stage.calls(NodeId{1});
  calls.erase(calls.begin(), calls.begin() + called);
  BOOST_TEST(names(calls) == (Words{"stop", "reorganize", "start"}));
  BOOST_TEST(!calls[0].group.has_value());
  BOOST_TEST((calls[1].members.at(0).holdings.group == before));
  BOOST_TEST(!calls[1].members.at(0).holdings.empty);
  BOOST_TEST((calls[1].members.at(0).incarnation == Incarnation{2}));
  BOOST_TEST((calls[2].group == after));
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(p8_ready_is_answered_when_the_definition_is_durable) {
  test::HeldSaves saves(NodeId{1}, [](const SafeState& safe) { return safe.assigned.has_value(); });
  Cluster cluster({.nodes = 2, .between = saves.between()});
  cluster.join(2);
  cluster.start(1);
  BOOST_TEST_REQUIRE(saves.await());
  const auto answered = [&] {
    const auto lines = cluster.journals.lines(NodeId{2});
    return std::any_of(lines.begin(), lines.end(), test::is_answer_from<Installed>(NodeId{1}));
  };
  BOOST_TEST(!answered());
  BOOST_TEST(cluster.stage.count(NodeId{1}, Hook::start) == 0u);
  saves.door.open();
  cluster.await_group({1, 2});
  BOOST_TEST(answered());
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
