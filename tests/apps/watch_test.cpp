#include "apps/cluster/watch.hpp"

#include <boost/test/unit_test.hpp>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

/// Writes the lines that nodes would write. First nodes 1, 2 and 3 form a group with coordinator 3.
class Tale {
 public:
  Tale() {
    for (std::uint32_t node : {1U, 2U, 3U}) begins(node);
    for (std::uint32_t node : {1U, 2U, 3U}) starts(node, {1, NodeId{3}});
    for (std::uint32_t node : {1U, 2U}) normal(node, {1, NodeId{3}});
    normal(3, {1, NodeId{3}}, {NodeId{1}, NodeId{2}});
  }

  Watch watch;

  void begins(std::uint32_t node) {
    journal::Header header;
    header.t = at_ += 1ms;
    header.node = NodeId{node};
    header.incarnation = {++lives_[node]};
    watch.take(header);
    step(node, Recovered{}, {}, Wait::SeekingHigher);
  }

  void step(std::uint32_t node, Event event, View view, Wait procedure) {
    view.procedure = procedure;
    watch.take(journal::Step{stamp(node), std::move(event), {}, std::move(view)});
  }

  void hook(std::uint32_t node, Hook hook, journal::Edge edge, std::optional<GroupNumber> group) {
    formed_now |= watch.take(journal::HookEdge{stamp(node), hook, edge, group, {}, {}});
  }

  void starts(std::uint32_t node, GroupNumber group) {
    hook(node, Hook::start, journal::Edge::begin, group);
    hook(node, Hook::start, journal::Edge::end, group);
  }

  void stops(std::uint32_t node, GroupNumber group) {
    hook(node, Hook::stop, journal::Edge::begin, group);
    hook(node, Hook::stop, journal::Edge::end, group);
  }

  void fault(std::uint32_t node, journal::FaultKind kind) {
    watch.take(journal::Fault{at_ += 1ms, kind, NodeId{node}, std::nullopt});
  }

  void normal(std::uint32_t node, GroupNumber group, NodeSet up = {}) {
    View view;
    view.status = Status::Normal;
    view.coordinator = group.coordinator;
    view.group = group;
    if (group.coordinator.value == node) view.up = std::move(up);
    step(node, Started{}, view, Wait::Idle);
  }

  bool formed_now = false;
  Duration at_{};

 private:
  journal::Stamp stamp(std::uint32_t node) { return {at_ += 1ms, NodeId{node}, {lives_[node]}, 1}; }
  std::map<std::uint32_t, std::uint64_t> lives_;
};

const NodeSet three{NodeId{1}, NodeId{2}, NodeId{3}};
const NodeSet two{NodeId{1}, NodeId{2}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(watch, Tale)

BOOST_AUTO_TEST_CASE(sees_a_group_form_and_why) {
  BOOST_REQUIRE_EQUAL(watch.formed().size(), 1u);
  const Formed& formed = watch.formed().front();
  BOOST_TEST(formed.members == three);
  BOOST_TEST(formed.reason == "node 3 recovered");
  BOOST_TEST(!formed.without_work.has_value());
  BOOST_TEST(watch.normal(three, {}));
  BOOST_TEST(!watch.normal(two, {}));
  BOOST_TEST(watch.coordinator() == NodeId{3});
  BOOST_TEST(!watch.normal(three, {{NodeId{1}, at_}}));
}

BOOST_AUTO_TEST_CASE(counts_the_time_without_work_from_the_kill) {
  fault(3, journal::FaultKind::killed);
  const Duration killed = at_;
  BOOST_TEST(!watch.normal(two, {}));
  View view;
  view.status = Status::Normal;
  step(2, Failed{NodeId{3}, {1}}, view, Wait::Probing);
  step(2, Unanswered{NodeId{3}, {1}}, view, Wait::HaltingLower);
  for (std::uint32_t node : {1U, 2U}) stops(node, {1, NodeId{3}});
  for (std::uint32_t node : {2U, 1U}) starts(node, {2, NodeId{2}});
  const Duration started = at_;
  normal(1, {2, NodeId{2}});
  normal(2, {2, NodeId{2}}, {NodeId{1}});
  BOOST_REQUIRE_EQUAL(watch.formed().size(), 2u);
  const Formed& formed = watch.formed().back();
  BOOST_TEST(formed.members == two);
  BOOST_TEST(formed.reason == "node 3 failed");
  BOOST_TEST(formed.without_work == started - killed);
  BOOST_TEST(watch.normal(two, {}));
  BOOST_TEST(!watch.normal(three, {}));
}

BOOST_AUTO_TEST_CASE(the_time_in_which_all_are_down_is_not_counted) {
  for (std::uint32_t node : {1U, 2U, 3U}) fault(node, journal::FaultKind::killed);
  for (std::uint32_t node : {1U, 2U, 3U}) begins(node);
  for (std::uint32_t node : {1U, 2U, 3U}) starts(node, {17, NodeId{3}});
  normal(3, {17, NodeId{3}}, two);
  BOOST_REQUIRE_EQUAL(watch.formed().size(), 2u);
  BOOST_TEST(!watch.formed().back().without_work.has_value());
}

BOOST_AUTO_TEST_CASE(work_ends_with_the_stop_the_kill_and_the_pause) {
  stops(1, {1, NodeId{3}});
  const Duration stopped = at_;
  fault(2, journal::FaultKind::killed);
  const Duration killed = at_;
  fault(3, journal::FaultKind::paused);
  const Duration paused = at_;
  BOOST_REQUIRE_EQUAL(watch.worked().size(), 3u);
  BOOST_TEST(watch.worked()[0].end == stopped);
  BOOST_TEST(watch.worked()[1].end == killed);
  BOOST_TEST(watch.worked()[2].end == paused);
  BOOST_TEST(watch.pauses(NodeId{3}) == std::vector<Duration>{paused});
}

BOOST_AUTO_TEST_CASE(says_the_reason_of_each_kind_of_election) {
  const auto reason = [](Event event, Wait before, Wait after) {
    Tale tale;
    View view;
    view.status = Status::Normal;
    tale.step(3, Expired{Timer::check}, view, before);
    tale.step(3, std::move(event), view, after);
    return tale.watch.node(NodeId{3}).reasons.last().evidence;
  };
  const auto answer = [](Result result) {
    Letter letter;
    letter.from = NodeId{1};
    letter.message = Answer{std::move(result)};
    return Event(Received{letter});
  };
  BOOST_TEST(reason(Paused{700ms}, Wait::Checking, Wait::HaltingLower) ==
             "node 3 was paused for 700.0 ms");
  BOOST_TEST(reason(Unanswered{NodeId{1}, {9}}, Wait::Checking, Wait::HaltingLower) ==
             "node 1 did not answer AreYouNormal");
  BOOST_TEST(reason(Unanswered{NodeId{5}, {9}}, Wait::Probing, Wait::SeekingHigher) ==
             "coordinator 5 was not heard and did not answer AreYouThere");
  BOOST_TEST(reason(answer(Normality{false}), Wait::Checking, Wait::Ceasing) ==
             "node 1 is up and answered AreYouNormal with No");
  BOOST_TEST(reason(answer(Refused{"halted\nsince"}), Wait::Announcing, Wait::BackingOff) ==
             "node 1 refused: halted?since");
  BOOST_TEST(reason(HookFailed{{1}, Hook::reorganize, "no"}, Wait::Reorganizing,
                    Wait::BackingOff) == "its reorganize failed: no");
  BOOST_TEST(reason(Failed{NodeId{1}, {1}}, Wait::Idle, Wait::HaltingLower) == "node 1 failed");
  BOOST_TEST(reason(Expired{Timer::check}, Wait::Idle, Wait::Checking) ==
             "node 3 recovered");  // no election has begun
}

BOOST_AUTO_TEST_CASE(lines_of_a_life_after_its_kill_do_not_count) {
  fault(3, journal::FaultKind::killed);
  normal(3, {1, NodeId{3}}, two);
  BOOST_TEST(!watch.node(NodeId{3}).up);
  BOOST_TEST(watch.node(NodeId{3}).view.status == Status::Down);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
