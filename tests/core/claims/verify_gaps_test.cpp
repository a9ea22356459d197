#include "judgement.hpp"

/// The verifier on journals in which lines are missing and a line reports the gap.

using namespace muster;
using namespace muster::test;

namespace {

bool is_of(const journal::Line& line, std::uint32_t id) {
  return std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.stamp; })
          return kind.stamp.node == NodeId{id};
        else
          return false;
      },
      line);
}

/// The state of the node: the fields of its view, and those fields that a state has and a view does
/// not.
bully::State state_of(JournalBuilder& story, std::uint32_t id) {
  const JournalBuilder::Node& node = story[id];
  bully::State state;
  state.s = node.view.status;
  if (node.view.coordinator) state.c = ElectionId{*node.view.coordinator, Incarnation{1}, 1};
  state.g = node.view.group;
  if (node.view.definition) state.d = Definition{"task"};
  state.application = node.started ? Activity::Working : Activity::Idle;
  state.ticket = {node.ticket};
  state.safe = node.safe;
  return state;
}

/// Removes the lines of that node from index `from` of all lines on, and adds a line that reports
/// the gap.
void lose(JournalBuilder& story, std::uint32_t id, std::size_t from) {
  const auto begin = story.lines.begin() + static_cast<std::ptrdiff_t>(from);
  const auto kept = std::remove_if(begin, story.lines.end(),
                                   [&](const journal::Line& line) { return is_of(line, id); });
  const auto lost = static_cast<std::uint64_t>(story.lines.end() - kept);
  story.lines.erase(kept, story.lines.end());
  story.lines.emplace_back(journal::Gap{story.stamp(id), lost, state_of(story, id)});
}

Letter letter(std::uint32_t from, std::uint32_t to, std::uint64_t call) {
  return {NodeId{from}, Incarnation{1}, NodeId{to}, CallNumber{call}, AreYouThere{}};
}

/// Three nodes that have formed a group. The lines after this may be lost.
struct Losing : Formed {
  std::size_t from = story.lines.size();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gaps)

// The verifier does not compare the node's status before the gap with the other nodes' status after
// it.
BOOST_AUTO_TEST_CASE(a_reorganization_in_a_gap_is_no_violation) {
  for (const std::uint32_t lost : {1U, 2U}) {
    JournalBuilder story = formed();
    story.wait(moment);
    story.fault(FaultKind::killed, 3);
    const std::size_t from = story.lines.size();
    story.reform({1, 2});
    lose(story, lost, from);
    const Judgement judgement = judge(story, "");
    BOOST_TEST(judgement.outcome.missing_lines > 0u);
    const auto& told = judgement.not_claimed;
    BOOST_TEST(std::any_of(told.begin(), told.end(), [&](const verify::NotClaimed& time) {
      return time.why == "lines are missing in the journal of node " + std::to_string(lost);
    }));
  }
}

// From the end of the gap the verifier compares the node's status again.
BOOST_FIXTURE_TEST_CASE(what_the_gap_has_led_to_is_judged, Formed) {
  story.wait(moment);
  const std::size_t from = story.lines.size();
  story.is_halted(1);
  story[1].view.status = Status::Normal;
  story[1].view.coordinator = NodeId{1};
  story[1].view.group = GroupNumber{7, NodeId{1}};
  story[1].started = story[1].view.group;
  lose(story, 1, from);
  judge(story, "1a 1b works-apart");
}

BOOST_FIXTURE_TEST_CASE(numbers_do_not_get_smaller_after_it, Losing) {
  for (std::uint32_t id : {1U, 2U, 3U}) story.is_halted(id);
  story.joins(1, 3, {9, NodeId{3}});
  lose(story, 1, from);
  story.is_halted(1);
  story.joins(1, 3, {8, NodeId{3}});
  BOOST_TEST(judge(story).violated() == "group-grows");
}

BOOST_AUTO_TEST_CASE(what_was_saved_in_it_is_durable_after_it) {
  for (const bool kept : {true, false}) {
    JournalBuilder story = formed();
    const std::size_t from = story.lines.size();
    const SafeState before = story[1].safe;
    story.is_halted(1);
    story.joins(1, 3, {40, NodeId{3}}, true);
    lose(story, 1, from);
    story.fault(FaultKind::killed, 1);
    if (!kept) story[1].safe = before;
    story.recovers(1);
    BOOST_TEST(judge(story).violated() == (kept ? "" : "durable"));
  }
}

// A node leaves out its idle Checks. The node goes on working in its group, and every assertion is
// claimed as before.
BOOST_AUTO_TEST_CASE(a_gap_in_which_a_node_worked_on_takes_nothing_from_what_is_claimed) {
  JournalBuilder story = formed();
  story.wait(bound(story));
  const std::size_t from = story.lines.size();
  for (int i = 0; i < 10; ++i) story.step(1, Expired{Timer::check});
  lose(story, 1, from);
  story.fault(FaultKind::killed, 3);
  const Judgement judgement = judge(story, "");
  BOOST_TEST(judgement.holds("2"));
  BOOST_TEST(judgement.not_claimed.empty());
  BOOST_TEST(judgement.outcome.missing_lines == 10u);
}

BOOST_FIXTURE_TEST_CASE(the_grammar_of_hooks_goes_on_where_a_node_worked_on, Losing) {
  story.step(1, Expired{Timer::check});
  lose(story, 1, from);
  story.enter_election(1);
  story.step(1, Expired{Timer::coordinator}, {story.stop_action(1)});
  story.hook(1, Hook::stop, Edge::begin);  // its permits are still valid
  BOOST_TEST(judge(story).violated() == "hook-grammar");
}

BOOST_FIXTURE_TEST_CASE(the_grammar_of_hooks_starts_again_where_it_did_not, Losing) {
  for (std::uint32_t id : {1U, 2U, 3U}) story.is_halted(id);
  story.joins(1, 3, {9, NodeId{3}});
  lose(story, 1, from);
  story.starts(1);
  story.is_halted(1);
  BOOST_TEST(judge(story).violated() == "");
}

// A time without faults does not count if a node's journal has a gap in it.
BOOST_FIXTURE_TEST_CASE(a_calm_with_a_gap_in_it_is_none, Losing) {
  story.is_halted(1);
  story.wait(bound(story));
  story.fault(FaultKind::reset, 2);
  lose(story, 1, from);
  BOOST_TEST(judge(story).violated() == "");
}

// P4: the verifier cannot know whether a member with missing lines has ceased, nor what it
// reported.
BOOST_FIXTURE_TEST_CASE(a_member_may_have_ceased_in_a_gap, Formed) {
  story.fault(FaultKind::killed, 3);
  const std::size_t from = story.lines.size();
  for (std::uint32_t id : {1U, 2U}) story.is_halted(id);
  const GroupNumber group{7, NodeId{2}};
  for (std::uint32_t id : {1U, 2U}) story.joins(id, 2, group);
  story.reorganizes(2, {1, 2});
  lose(story, 1, from);
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_FIXTURE_TEST_CASE(letters_in_gaps_are_not_judged, Losing) {
  story.step(1, Expired{Timer::check}, {Send{letter(1, 2, 5), Bound::answer}});
  story.step(2, Received{letter(1, 2, 5)});
  lose(story, 1, from);
  story.step(2, Received{letter(1, 2, 6)});  // this letter took longer
  story.step(1, Expired{Timer::check});
  BOOST_TEST(judge(story).violated() == "");
}

// Letters arrive in the order in which they were sent. So when enough later letters have arrived,
// all letters from the gap have arrived too.
BOOST_FIXTURE_TEST_CASE(letters_long_after_a_gap_are_judged, Losing) {
  story.step(1, Expired{Timer::check});
  lose(story, 1, from);
  Actions sends;
  for (std::uint64_t call = 1; call <= 100; ++call)
    sends.emplace_back(Send{letter(1, 2, call), Bound::answer});
  story.step(1, Expired{Timer::check}, std::move(sends));
  story.step(2, Received{letter(1, 2, 100)});
  story.step(1, Expired{Timer::check});
  BOOST_TEST(judge(story).violated() == "");
  story.step(2, Received{letter(1, 2, 777)});
  story.step(1, Expired{Timer::check});
  BOOST_TEST(judge(story).why("hook-grammar") ==
             "node 2: AreYouThere of node 1 arrived but that node never sent it");
}

// P8: the line which says that the Save was performed is lost. The letter arrives before a line
// reports the gap.
BOOST_FIXTURE_TEST_CASE(a_save_may_have_been_performed_in_a_gap, Formed) {
  story.step(1, Expired{Timer::check}, {Save{story[1].safe}, Send{letter(1, 2, 5), Bound::answer}});
  const std::size_t from = story.lines.size();
  story.performed(1);
  story.step(2, Received{letter(1, 2, 5)});
  lose(story, 1, from);
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_FIXTURE_TEST_CASE(permits_may_have_been_revoked_in_a_gap, Formed) {
  const Letter answer{NodeId{1}, Incarnation{1}, NodeId{3}, CallNumber{5}, Answer{Halted{1}}};
  story.enter_election(1);
  story.step(1, Received{}, {story.stop_action(1), Send{answer, std::nullopt}});
  const std::size_t from = story.lines.size();
  story.permits(1, PermitsEdge::revoked);
  story.step(3, Received{answer});
  lose(story, 1, from);
  BOOST_TEST(judge(story).violated() == "");
}

// The first line of a life may be among the lost lines. The life then begins with the line that
// reports the gap.
BOOST_FIXTURE_TEST_CASE(a_life_may_begin_with_a_gap, Formed) {
  story.fault(FaultKind::killed, 1);
  const std::size_t from = story.lines.size();
  story.recovers(1);
  const auto is_first = [](const journal::Line& line) {
    return std::holds_alternative<journal::Header>(line);
  };
  const auto first = std::find_if(story.lines.begin() + static_cast<std::ptrdiff_t>(from),
                                  story.lines.end(), is_first);
  auto header = std::get<journal::Header>(*first);
  story.lines.erase(first);
  header.t = story.now();
  header.state = state_of(story, 1);
  header.gap = 5;
  lose(story, 1, from);
  story.lines.insert(story.lines.end() - 1, header);
  story.step(1, Expired{Timer::check});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_SUITE_END()
