#include "host.hpp"

#include <muster/values/hash.hpp>

// The rules of the hooks, tested on the HookRunner alone. The nodes and the lab both use it.

namespace muster {
namespace {

using namespace test;

BOOST_FIXTURE_TEST_CASE(the_first_stop_of_a_life_has_nothing_to_cease, Host) {
  runner.perform(Stop{Ticket{1}, {StopReason::halted, NodeId{3}}, true});
  BOOST_TEST(!played.stopped->group.has_value());
  BOOST_TEST(!played.stopped->previous.has_value());
  BOOST_TEST(played.stopped->cause.reason == StopReason::halted);
  end({"held"});
  BOOST_REQUIRE(last<Stopped>());
  BOOST_TEST(last<Stopped>()->report->data == "held");
}

BOOST_AUTO_TEST_CASE(what_safe_storage_holds_is_what_was_assigned_before) {
  Host host(Assigned{task_of({NodeId{1}, NodeId{2}}, "old"), {4, NodeId{2}}});
  host.runner.perform(Stop{Ticket{1}, {StopReason::own_election, {}}, true});
  const auto& previous = host.played.stopped->previous;
  BOOST_REQUIRE(previous.has_value());
  BOOST_TEST(previous->group == (GroupNumber{4, NodeId{2}}));
  BOOST_TEST(previous->task.definition.data == "old");
}

BOOST_AUTO_TEST_CASE(a_reorganize_is_told_who_was_lost_who_came_back_and_who_was_assigned_last) {
  Host host(Assigned{task_of({NodeId{1}, NodeId{2}}, "old"), {4, NodeId{2}}});
  stopped_first(host);
  host.runner.perform(Reorganize{
      Ticket{2},
      g7,
      {member(2, GroupNumber{4, NodeId{2}}), member(3, GroupNumber{5, NodeId{3}}), member(4)}});
  const Reorganization& told = *host.played.reorganized;
  BOOST_TEST(told.lost() == NodeSet{NodeId{1}});
  BOOST_TEST(told.came_back() == (NodeSet{NodeId{3}, NodeId{4}}));
  BOOST_REQUIRE(told.last_assigned());
  BOOST_TEST(told.last_assigned()->node == NodeId{3});
  BOOST_TEST(told.deadline == Timings{}.reorganize_deadline);
}

BOOST_AUTO_TEST_CASE(if_nothing_was_ever_assigned_nobody_was_assigned_last) {
  Reorganization told;
  told.members = {member(1), member(2)};
  BOOST_TEST(told.last_assigned() == nullptr);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
BOOST_AUTO_TEST_CASE(the_old_name_freshest_still_gives_who_was_assigned_last) {
  Reorganization told;
  BOOST_TEST(told.freshest() == nullptr);
  told.members = {member(1, GroupNumber{5, NodeId{3}}), member(2)};
  BOOST_TEST(told.freshest() == told.last_assigned());
}
#pragma GCC diagnostic pop

BOOST_FIXTURE_TEST_CASE(a_task_names_its_members_and_gives_each_its_part_alone, StoppedHost) {
  runner.perform(Reorganize{Ticket{2}, g7, {member(1), member(2)}});
  played.reorganized->give_part(NodeId{2}, {"mine"});
  end({"all"});
  BOOST_REQUIRE(last<Reorganized>());
  const Definition defined = last<Reorganized>()->definition;
  runner.perform(Start{Ticket{3}, defined, g7});
  BOOST_TEST(played.started->definition.data == "all");
  BOOST_TEST(played.started->part().data == "mine");
  BOOST_TEST(played.started->members == (NodeSet{NodeId{1}, NodeId{2}}));
  BOOST_TEST(played.started->digest == digest(defined.data));
  Host other;
  HookRunner one(other, NodeId{1}, Host::limits(), std::nullopt);
  one.perform(Start{Ticket{1}, defined, g7});
  BOOST_TEST(other.played.started->part().data.empty());
}

BOOST_FIXTURE_TEST_CASE(parts_count_towards_the_limit_and_are_for_members, StoppedHost) {
  runner.perform(Reorganize{Ticket{2}, g7, {member(2)}});
  played.reorganized->give_part(NodeId{2}, {"123456"});
  end({"12345"});
  BOOST_REQUIRE(last<HookFailed>());
  BOOST_TEST(last<HookFailed>()->why ==
             "its definition with its parts of 11 bytes is larger than the limit of 10");
  runner.perform(Reorganize{Ticket{3}, g7, {member(2)}});
  played.reorganized->give_part(NodeId{5}, {"1"});
  end({"1"});
  BOOST_REQUIRE(last<HookFailed>());
  BOOST_TEST(last<HookFailed>()->why == "it gave a part to node 5, which is no member");
}

BOOST_FIXTURE_TEST_CASE(a_definition_that_is_no_task_fails_the_start, StoppedHost) {
  runner.perform(Start{Ticket{2}, {"no task"}, g7});
  look();
  BOOST_REQUIRE(last<HookFailed>());
  BOOST_TEST(last<HookFailed>()->why == "its coordinator's definition is no task");
  BOOST_TEST(!played.started.has_value());
}

BOOST_AUTO_TEST_CASE(a_stop_waits_for_the_cancelled_hook_and_has_what_is_left_of_one_deadline) {
  StoppedHost host;
  host.runner.perform(Start{Ticket{2}, task_of({NodeId{2}}, "all"), g7});
  host.played.stopped.reset();
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
  BOOST_TEST(host.played.started->stop_requested());
  BOOST_TEST(!host.played.stopped.has_value());
  host.left_ = 300ms;
  host.end_start();
  BOOST_REQUIRE(host.played.stopped.has_value());
  BOOST_TEST(host.played.stopped->deadline == 300ms);
  BOOST_TEST(host.played.stopped->group == g7);
  BOOST_TEST(host.played.stopped->previous->group == g7);
  host.end({"held"});
  BOOST_TEST(!host.last<Stopped>());
  host.returned_();
  BOOST_TEST(host.last<Stopped>());
}

BOOST_AUTO_TEST_CASE(the_overrun_of_a_stop_ends_the_process_and_says_what_it_waited_for) {
  StoppedHost host;
  host.runner.perform(Start{Ticket{2}, task_of({NodeId{2}}, "all"), g7});
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
  host.overrun_();
  BOOST_TEST(host.died ==
             "a cancelled hook overran stop_deadline = 2 s; still out: one without a name");
  BOOST_TEST(host.is_late);
}

BOOST_AUTO_TEST_CASE(permits_that_are_not_returned_in_time_are_named) {
  const auto said_of = [](PermitsOut out) {
    StoppedHost host;
    host.runner.perform(Start{Ticket{2}, task_of({NodeId{2}}, "all"), g7});
    host.end_start();
    host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
    host.end({"held"});
    host.out = std::move(out);
    host.overrun_();
    return host.died;
  };
  const std::string overran = "a permit overran stop_deadline = 2 s; still out: ";
  BOOST_TEST(said_of({{"", 1}}) == overran + "one without a name");
  BOOST_TEST(said_of({{"", 3}, {"copy", 1}, {"upload", 2}}) ==
             overran + "3 without a name, \"copy\", \"upload\" (2 of them)");
  PermitsOut many;
  for (char name = 'a'; name <= 'j'; ++name) many[std::string(1, name)] = 2;
  BOOST_TEST(said_of(many).ends_with("\"h\" (2 of them), and 4 more"));
}

BOOST_FIXTURE_TEST_CASE(a_report_that_is_too_large_ends_the_process_and_is_never_cut, Host) {
  runner.perform(Stop{Ticket{1}, {StopReason::own_election, {}}, true});
  end({"12345"});
  BOOST_TEST(died == "stop failed: its report of 5 bytes is larger than the limit of 4");
  BOOST_TEST(!is_late);
  BOOST_TEST(events.empty());
}

BOOST_FIXTURE_TEST_CASE(progress_is_told_until_the_next_hook, StoppedHost) {
  runner.perform(Reorganize{Ticket{2}, g7, {member(2)}});
  played.reorganized->progress("3/7 merged");
  BOOST_TEST(how_far == "3/7 merged");
  end({"all"});
  runner.perform(Start{Ticket{3}, task_of({NodeId{2}}, "all"), g7});
  BOOST_TEST(how_far.empty());
}

BOOST_FIXTURE_TEST_CASE(the_late_end_of_an_abandoned_hook_changes_nothing, StoppedHost) {
  runner.perform(Reorganize{Ticket{2}, g7, {member(2)}});
  auto late = std::move(*played.bytes);
  runner.abandon();
  const std::size_t before = events.size();
  late({"late"});
  look();
  BOOST_TEST(events.size() == before);
}

}  // namespace
}  // namespace muster
