#include "cluster.hpp"
#include "storages.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

/// The promises to an application (docs/architecture.md, P1 to P8) on real nodes. Each test also
/// runs the hook grammar and the assertions over its journals.

using namespace muster;
using namespace muster::test;

namespace {

Words names(const std::vector<Called>& calls) {
  Words all;
  for (const Called& called : calls) all.push_back(to_text(called.hook));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(promises)

BOOST_FIXTURE_TEST_CASE(p1_no_permit_is_valid_once_a_halt_is_answered, Judged<3>) {
  join_all();
  auto permit = stage.services(NodeId{1}).permits().try_acquire();
  BOOST_TEST_REQUIRE(permit.has_value());
  BOOST_TEST(permit->valid());
  const std::size_t before = journals.count(NodeId{2});
  kill(3);
  await_line(2, "the answer of 1 to its Halt", before, is_answer_from<Halted>(NodeId{1}));
  BOOST_TEST(!permit->valid());
  BOOST_TEST(!stage.services(NodeId{1}).permits().try_acquire().has_value());
  permit.reset();  // STOP waits for this permit
  await_group({1, 2});
}

BOOST_FIXTURE_TEST_CASE(p1_no_permit_is_valid_once_an_own_election_began, Judged<3>) {
  const GroupNumber group = join_all();
  auto permit = stage.services(NodeId{2}).permits().try_acquire();
  BOOST_TEST_REQUIRE(permit.has_value());
  BOOST_TEST(permit->group() == group);
  kill(3);
  await_halted(1, 2);
  BOOST_TEST(!permit->valid());
  permit.reset();
  await_group({1, 2});
}

// The new group waits for the last permit of the old one, on whichever node it is held.
BOOST_FIXTURE_TEST_CASE(p1_a_member_has_joined_when_its_last_permit_is_back, Judged<3>) {
  join_all();
  auto permit = stage.services(NodeId{1}).permits().try_acquire();
  const std::size_t before = journals.count(NodeId{1});
  // Before this group was formed, node 2 may have reorganized a smaller group.
  const std::size_t reorganized = stage.count(NodeId{2}, Hook::reorganize);
  kill(3);
  await_line(1, "the end of its permits", before, is_line<journal::Permits>);
  await_line(1, "NewCoordinator", before, is_letter<NewCoordinator>);
  BOOST_TEST(stage.count(NodeId{2}, Hook::reorganize) == reorganized);
  permit.reset();
  await_group({1, 2});
}

BOOST_FIXTURE_TEST_CASE(p2_a_life_begins_with_a_stop_and_each_start_has_one_after_it, Judged<2>) {
  join(1);
  join(2);
  lose(2);
  leave(1);
  const auto calls = stage.calls(NodeId{1});
  BOOST_TEST(names(calls) == (Words{"stop", "reorganize", "start", "stop", "start", "stop",
                                    "reorganize", "start", "stop"}));
  BOOST_TEST(!calls[0].group.has_value());
  BOOST_TEST(calls[3].group == calls[2].group);
  BOOST_TEST(calls[5].group == calls[4].group);
  BOOST_TEST(calls[3].cause.reason == StopReason::halted);
  BOOST_TEST(calls[3].cause.by == NodeId{2});
  BOOST_TEST(calls[5].cause.reason == StopReason::own_election);
  BOOST_TEST(calls[8].cause.reason == StopReason::leaving);
  for (const Called& called : stage.calls()) BOOST_TEST(!called.beside_another);
}

BOOST_FIXTURE_TEST_CASE(p3_hooks_run_on_the_executor_of_the_user_and_under_no_lock, Judged<1>) {
  std::string status;
  Activity activity{};
  for (Hook hook : {Hook::stop, Hook::reorganize, Hook::start})
    stage.play(NodeId{1}, hook, [&](Cue cue) {
      status = node(1).status_json();
      activity = node(1).view().application;
      Services& services = stage.services(NodeId{1});
      (void)services.permits().try_acquire();
      services.post([] {});
      services.write({"k", {"v"}}, [] {});
      services.scan("", [](const auto&) {});
      cue.complete();
    });
  join(1);
  const auto users = hooks(1).threads();
  for (const Called& called : stage.calls()) BOOST_TEST(users.contains(called.thread));
  BOOST_TEST(stage.calls().size() == 3u);
  leave_all();
  BOOST_TEST(says(status, "\"node\":1"));
  BOOST_TEST(activity == Activity::Stopping);
}

// The highest node wins, even if it has no data itself. Its `reorganize` learns what each member
// holds.
BOOST_FIXTURE_TEST_CASE(p4_reorganize_sees_every_member_with_what_it_holds, Judged<3>) {
  start(1);
  const GroupNumber before = join(2);
  stage.hold(NodeId{3}, Hook::reorganize);
  start(3);
  Cue cue = stage.take(NodeId{3}, Hook::reorganize);
  const Members& members = cue.about.members;
  BOOST_TEST_REQUIRE(members.size() == 3u);
  const auto assigned = stage.calls(NodeId{1}).at(stage.calls(NodeId{1}).size() - 2);
  for (std::uint32_t id = 1; id <= 3; ++id) {
    const Member& member = members[id - 1];
    BOOST_TEST(member.node == NodeId{id});
    BOOST_TEST(member.incarnation == Incarnation{1});
    BOOST_TEST(member.holdings.report == usual_report(NodeId{id}));
    BOOST_TEST(member.holdings.empty == (id == 3));
    BOOST_TEST(member.holdings.group == (id == 3 ? std::nullopt : std::optional(before)));
    if (id != 3) {
      BOOST_TEST(assigned.hook == Hook::start);
      BOOST_TEST(member.holdings.definition == assigned.digest);
    }
  }
  // Every member is stopped.
  for (std::uint32_t id = 1; id <= 2; ++id)
    BOOST_TEST(stage.calls(NodeId{id}).back().hook == Hook::stop);
  cue.complete();
  await_group({1, 2, 3});
}

BOOST_FIXTURE_TEST_CASE(hooks_are_told_who_was_lost_and_who_came_back, Judged<3>) {
  join_all();
  lose(3);
  const Called lost = stage.calls(NodeId{1}).back();
  BOOST_TEST(lost.hook == Hook::start);
  BOOST_TEST(lost.lost == NodeSet{NodeId{3}});
  BOOST_TEST(lost.came_back == NodeSet{});
  join(3);
  for (std::uint32_t id = 1; id <= 2; ++id) {
    const Called back = stage.calls(NodeId{id}).back();
    BOOST_TEST(back.lost == NodeSet{});
    BOOST_TEST(back.came_back == NodeSet{NodeId{3}});
  }
  // According to node 3's own safe storage, its last group was the group of all three.
  const Called own = stage.calls(NodeId{3}).back();
  BOOST_TEST(own.came_back == NodeSet{});
}

BOOST_FIXTURE_TEST_CASE(p5_a_definition_is_durable_before_start_is_called, Nodes<2>) {
  std::atomic<int> durable = 0;
  for (std::uint32_t id = 1; id <= 2; ++id)
    stage.play(NodeId{id}, Hook::start, [&, kept = &cells(id)](Cue cue) {
      const auto& assigned = kept->safe.assigned;
      const auto task = assigned ? decode<Task>(assigned->definition.data) : Task{};
      if (task && task->definition == cue.about.definition && assigned->group == cue.about.group)
        ++durable;
      cue.complete();
    });
  join(2);
  join(1);
  const auto starts = stage.count(NodeId{1}, Hook::start) + stage.count(NodeId{2}, Hook::start);
  BOOST_TEST(static_cast<std::size_t>(durable) == starts);
  judge();
}

BOOST_FIXTURE_TEST_CASE(p6_a_restarted_node_reports_and_does_not_resume, Judged<3>) {
  const GroupNumber before = join_all();
  for (std::uint32_t id = 1; id <= 3; ++id) kill(id);
  const auto called = static_cast<std::ptrdiff_t>(stage.calls(NodeId{1}).size());
  const GroupNumber after = join(1);
  BOOST_TEST(before < after);
  auto calls = stage.calls(NodeId{1});
  calls.erase(calls.begin(), calls.begin() + called);
  BOOST_TEST(names(calls) == (Words{"stop", "reorganize", "start"}));
  BOOST_TEST(!calls[0].group.has_value());
  BOOST_TEST(calls[1].members.at(0).holdings.group == before);
  BOOST_TEST(!calls[1].members.at(0).holdings.empty);
  BOOST_TEST(calls[1].members.at(0).incarnation == Incarnation{2});
  BOOST_TEST(calls[2].group == after);
}

BOOST_AUTO_TEST_CASE(p8_ready_is_answered_when_the_definition_is_durable) {
  HeldSaves saves(NodeId{1}, [](const SafeState& safe) { return safe.assigned.has_value(); });
  Cluster cluster({.nodes = 2, .between = saves.between()});
  cluster.join(2);
  cluster.start(1);
  BOOST_TEST_REQUIRE(saves.await());
  const auto answered = [&] {
    const auto lines = cluster.journals.lines(NodeId{2});
    return std::any_of(lines.begin(), lines.end(), is_answer_from<Installed>(NodeId{1}));
  };
  BOOST_TEST(!answered());
  BOOST_TEST(cluster.stage.count(NodeId{1}, Hook::start) == 0u);
  saves.door.open();
  cluster.await_group({1, 2});
  BOOST_TEST(answered());
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
