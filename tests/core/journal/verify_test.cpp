#include "story.hpp"

#include <muster/verify.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

/// The verifier on journals made by hand: one that holds, and each clause of it broken.

using namespace muster;
using journal::Edge;
using journal::FaultKind;
using journal::PermitsEdge;
using test::Story;

namespace {

constexpr std::chrono::milliseconds moment{1};

struct Judgement {
  verify::Outcome outcome;
  std::vector<verify::NotClaimed> not_claimed;

  [[nodiscard]] const verify::Verdict& of(const std::string& assertion) const {
    for (const verify::Verdict& verdict : outcome.verdicts)
      if (std::visit([](const auto& kind) { return kind.assertion; }, verdict) == assertion)
        return verdict;
    throw std::logic_error("no verdict on " + assertion);
  }
  [[nodiscard]] bool holds(const std::string& assertion) const {
    return std::holds_alternative<verify::Holds>(of(assertion));
  }
  [[nodiscard]] std::uint64_t checked(const std::string& assertion) const {
    return std::get<verify::Holds>(of(assertion)).checked;
  }
  // The sentence of the violation; empty where there is none.
  [[nodiscard]] std::string why(const std::string& assertion) const {
    const auto* violated = std::get_if<verify::Violated>(&of(assertion));
    return violated ? violated->disagreement.why : "";
  }
  [[nodiscard]] std::uint64_t violations(const std::string& assertion) const {
    return std::get<verify::Violated>(of(assertion)).violations;
  }
  // All that is violated, "1a 1b".
  [[nodiscard]] std::string violated() const {
    std::string all;
    for (const verify::Verdict& verdict : outcome.verdicts)
      if (const auto* violated = std::get_if<verify::Violated>(&verdict))
        all += (all.empty() ? "" : " ") + violated->assertion;
    return all;
  }
};

Expected<Judgement> try_judge(const std::vector<journal::Line>& lines) {
  verify::Foreseer foreseer;
  for (const journal::Line& line : lines) foreseer.take(line);
  Judgement judgement;
  verify::Verifier verifier(foreseer.finish(), [&](const verify::NotClaimed& time) {
    judgement.not_claimed.push_back(time);
  });
  std::uint64_t number = 0;
  for (const journal::Line& line : lines)
    if (const auto taken = verifier.take(line, {"story", ++number}); !taken) return taken.error();
  judgement.outcome = verifier.finish();
  return judgement;
}

Judgement judge(const Story& story) {
  auto judgement = try_judge(story.lines);
  BOOST_TEST_REQUIRE(judgement.has_value(), (judgement ? "" : judgement.error().what));
  return *judgement;
}

std::string failure(const Story& story) {
  const auto judgement = try_judge(story.lines);
  BOOST_TEST_REQUIRE(!judgement.has_value());
  return judgement.error().what;
}

// Three nodes that have formed a group; 3 is its coordinator.
Story formed() {
  Story story(3);
  for (std::uint32_t id : {1, 2, 3}) story.recovers(id);
  story.form({1, 2, 3});
  return story;
}

// 3 was killed, 1 and 2 are a group of their own.
Story reformed() {
  Story story = formed();
  story.wait(moment);
  story.fault(FaultKind::killed, 3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  return story;
}

Duration bound(const Story& story) {
  return settling_bound(story.config());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_story_that_holds) {
  Story story = reformed();
  story.wait(bound(story));
  story.recovers(3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2, 3});
  story.wait(bound(story));
  story.fault(FaultKind::terminated, 1);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  for (const char* assertion :
       {"1a", "1b", "2", "works-apart", "group-grows", "durable", "hook-grammar"})
    BOOST_TEST(judgement.holds(assertion), assertion);
  BOOST_TEST(judgement.outcome.holds());
  BOOST_TEST(judgement.not_claimed.empty());
  BOOST_TEST(judgement.outcome.lives == 4u);
  BOOST_TEST(judgement.outcome.lines == story.lines.size());
  BOOST_TEST((std::get<verify::Holds>(judgement.of("2")).bound == bound(story)));
}

// --- Assertions of states

BOOST_AUTO_TEST_SUITE(states)

BOOST_AUTO_TEST_CASE(two_coordinators_violate_1a_where_it_begins) {
  Story story = formed();
  story.is_halted(1);
  const std::size_t before = story.lines.size();
  story.joins(1, 2, {9, NodeId{2}});
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "1a");
  const auto& violated = std::get<verify::Violated>(judgement.of("1a"));
  BOOST_TEST(violated.disagreement.why == "node 1 Reorganization c=2, node 2 Normal c=3");
  BOOST_TEST(violated.place.journal == "story");
  BOOST_TEST(violated.place.line == before + 1);
  BOOST_TEST(violated.t.count() == journal::time_of(story.lines[before]).count());
  BOOST_TEST(violated.violations == 1u);
  BOOST_TEST(!judgement.outcome.holds());
}

BOOST_AUTO_TEST_CASE(a_violation_counts_once_each_time_that_it_begins) {
  Story story = formed();
  for (int round = 0; round < 2; ++round) {
    story.is_halted(1);
    story.joins(1, 2, {9, NodeId{2}});
    story.step(1, Expired{});
  }
  BOOST_TEST(judge(story).violations("1a") == 2u);
}

BOOST_AUTO_TEST_CASE(two_definitions_violate_1b) {
  Story story(2);
  for (std::uint32_t id : {1, 2}) story.recovers(id);
  for (std::uint32_t id : {1, 2}) story.joins(id, 2, {1, NodeId{2}});
  story.reorganizes(2, {1, 2});
  story.starts(1);
  story.starts(2, "another task");
  BOOST_TEST(judge(story).violated() == "1b");
}

// Its stop has not ended when the others begin anew.
BOOST_AUTO_TEST_CASE(work_for_two_groups_violates_works_apart) {
  Story story = formed();
  story.enter_election(1);
  story.step(1, Expired{}, {story.stop_action(1)});
  story.permits(1, PermitsEdge::revoked);
  for (std::uint32_t id : {2, 3}) story.is_halted(id);
  story.form({2, 3});
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "works-apart");
  BOOST_TEST(judgement.why("works-apart") ==
             "node 1 works for group 1.3, node 2 works for group 2.3");
}

BOOST_AUTO_TEST_CASE(a_node_works_from_the_beginning_of_start_to_the_end_of_stop) {
  Story story = formed();
  story.enter_election(1);
  story.step(1, Expired{}, {story.stop_action(1)});
  story.permits(1, PermitsEdge::revoked);
  story.hook(1, Hook::stop, Edge::begin);
  for (std::uint32_t id : {2, 3}) story.is_halted(id);
  for (std::uint32_t id : {2, 3}) story.joins(id, 3, {2, NodeId{3}});
  story.reorganizes(3, {2, 3});
  Story late = story;
  late.starts(2);  // from the beginning of start
  BOOST_TEST(judge(late).violated() == "works-apart");
  story.hook(1, Hook::stop, Edge::end);
  story.starts(2);
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_SUITE_END()

// --- When a node is down

BOOST_AUTO_TEST_SUITE(down)

// 3 is down from each of these on: what it was does not stand against the new group of 1 and 2.
BOOST_AUTO_TEST_CASE(from_killed_power_cut_or_ended) {
  for (FaultKind kind : {FaultKind::killed, FaultKind::power_cut, FaultKind::ended}) {
    Story story = formed();
    story.fault(kind, 3);
    for (std::uint32_t id : {1, 2}) story.is_halted(id);
    story.form({1, 2});
    BOOST_TEST(judge(story).violated() == "");
  }
  Story story = formed();
  story.ended(3, 76);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_CASE(but_not_from_terminated_wiped_or_reset) {
  for (FaultKind kind : {FaultKind::terminated, FaultKind::wiped, FaultKind::reset}) {
    Story story = formed();
    story.fault(kind, 3);
    for (std::uint32_t id : {1, 2}) story.is_halted(id);
    story.form({1, 2});
    BOOST_TEST(judge(story).violated() == "1a works-apart");
  }
}

// Without such a line a life lasts to the node's next first line, or to the end.
BOOST_AUTO_TEST_CASE(a_life_lasts_to_the_next_first_line) {
  Story story = formed();
  story.recovers(3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  BOOST_TEST(judge(story).violated() == "");
  story.lines.pop_back();
  story.begins(3);
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_CASE(everybody_by_a_power_cut_without_a_name) {
  Story story = formed();
  story.fault(FaultKind::power_cut);
  story.recovers(1);
  story.form({1});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_CASE(later_lines_of_that_life_no_longer_count) {
  Story story = formed();
  story.fault(FaultKind::killed, 3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  const std::uint64_t checked = judge(story).checked("hook-grammar");
  story.step(3, Expired{});                 // a Normal coordinator still
  story.hook(3, Hook::start, Edge::begin);  // and against the grammar
  BOOST_TEST(judge(story).violated() == "");
  BOOST_TEST(judge(story).checked("hook-grammar") == checked);
  Story without = story;
  std::erase_if(without.lines, [](const journal::Line& line) {
    return std::holds_alternative<journal::Fault>(line);
  });
  BOOST_TEST(judge(without).violated() == "hook-grammar");
}

BOOST_AUTO_TEST_CASE(a_segment_of_a_life_that_is_over_does_not_bring_it_back) {
  Story story = formed();
  story.fault(FaultKind::killed, 3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  bully::State state;
  state.s = Status::Reorganization;
  state.c = ElectionId{NodeId{3}, {}, 1};
  story.goes_on(3, state);
  story.form({1, 2});
  BOOST_TEST(judge(story).violated() == "");
}

// The other goes on alone; nobody comes back.
BOOST_AUTO_TEST_CASE(one_of_two_for_ever) {
  Story story(2);
  for (std::uint32_t id : {1, 2}) story.recovers(id);
  story.form({1, 2});
  story.fault(FaultKind::killed, 2);
  story.is_halted(1);
  story.form({1});
  story.wait(bound(story));
  story.fault(FaultKind::terminated, 1);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST(judgement.checked("2") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

// --- Pauses

BOOST_AUTO_TEST_SUITE(pauses)

// 3 is paused; 1 and 2 form a group meanwhile; 3 goes on.
Story paused(bool told_by_fault) {
  Story story = formed();
  const Duration from = story.now();
  if (told_by_fault) story.fault(FaultKind::paused, 3);
  story.wait(moment);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  if (told_by_fault) story.fault(FaultKind::resumed, 3);
  story.is_halted(3, Paused{story.now() + Duration(1) - from});
  return story;
}

BOOST_AUTO_TEST_CASE(a_node_is_down_from_paused_to_its_paused) {
  const Judgement judgement = judge(paused(true));
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 3u);
  const verify::NotClaimed& time = judgement.not_claimed.front();
  BOOST_TEST(time.assertion == "1a");
  BOOST_TEST(time.why == "assumption 9: node 3 paused");
  BOOST_TEST((time.to - time.from > moment));
}

// Nobody said that it would pause: it is known only afterwards.
BOOST_AUTO_TEST_CASE(a_node_is_down_for_the_gap_before_a_paused) {
  Story story = paused(false);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST(judgement.not_claimed.size() == 3u);
  for (journal::Line& line : story.lines)
    if (auto* step = std::get_if<journal::Step>(&line))
      if (auto* event = std::get_if<Paused>(&step->event)) event->gap = Duration(1);
  BOOST_TEST(judge(story).violated() == "1a works-apart");
}

BOOST_AUTO_TEST_CASE(only_to_resumed_where_the_first_event_after_it_is_another) {
  Story story = paused(true);
  const auto resumed = std::find_if(story.lines.begin(), story.lines.end(), [](const auto& line) {
    const auto* fault = std::get_if<journal::Fault>(&line);
    return fault && fault->kind == FaultKind::resumed;
  });
  const auto step = std::find_if(resumed, story.lines.end(), [](const auto& line) {
    return std::holds_alternative<journal::Step>(line);
  });
  std::get<journal::Step>(*step).event = Expired{};
  const Judgement judgement = judge(story);
  // From `resumed` on it is a second coordinator; what it worked for does not count again.
  BOOST_TEST(judgement.violated() == "1a");
  BOOST_TEST(std::get<verify::Violated>(judgement.of("1a")).place.line ==
             static_cast<std::uint64_t>(resumed - story.lines.begin()) + 1);
}

BOOST_AUTO_TEST_CASE(a_paused_node_that_never_goes_on_is_down_to_the_end) {
  Story story = formed();
  story.fault(FaultKind::paused, 3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  story.wait(bound(story));
  story.fault(FaultKind::terminated, 1);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST(judgement.checked("2") == 1u);
  BOOST_TEST(judgement.not_claimed.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_killed_while_paused_is_down) {
  Story story = formed();
  story.fault(FaultKind::paused, 3);
  story.fault(FaultKind::killed, 3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  BOOST_TEST(judge(story).violated() == "");
}

// What a paused node worked for counts no longer, from the beginning of that time.
BOOST_AUTO_TEST_CASE(its_work_does_not_count_again_until_it_is_started) {
  Story story = formed();
  const Duration from = story.now();
  story.fault(FaultKind::paused, 3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  story.fault(FaultKind::resumed, 3);
  story.enter_election(3);
  story.step(3, Paused{story.now() - from}, {story.stop_action(3)});
  story.permits(3, PermitsEdge::revoked);
  story.step(1, Expired{});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_SUITE_END()

// --- Assertion 2

BOOST_AUTO_TEST_SUITE(assertion_2)

BOOST_AUTO_TEST_CASE(is_checked_before_a_fault_when_the_calm_was_long_enough) {
  Story story = formed();
  story.is_halted(1);
  story.wait(bound(story));
  story.fault(FaultKind::reset, 1);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "2");
  BOOST_TEST(judgement.why("2") == "node 3 Normal c=3, node 1 Election c=none");
}

BOOST_AUTO_TEST_CASE(is_checked_at_the_end) {
  Story story = formed();
  story.is_halted(1);
  story.wait(bound(story));
  story.step(3, Expired{});
  BOOST_TEST(judge(story).violated() == "2");
}

BOOST_AUTO_TEST_CASE(is_not_checked_after_too_short_a_calm) {
  Story story = formed();
  story.is_halted(1);
  const Duration calm = story.now() - journal::time_of(story.lines.front());
  story.wait(bound(story) - 2 * calm);
  story.fault(FaultKind::reset, 1);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  const auto& verdict = std::get<verify::NotClaimed>(judgement.of("2"));
  BOOST_TEST(verdict.why == "no calm lasted the bound of " + to_text(bound(story)));
  BOOST_TEST(judgement.outcome.holds());
}

BOOST_AUTO_TEST_CASE(every_disturbance_ends_the_calm) {
  const std::function<void(Story&)> disturbances[] = {
      [](Story& story) { story.fault(FaultKind::reset, 2); },
      [](Story& story) { story.is_halted(2, Paused{Duration(1)}); },
      [](Story& story) { story.step(2, HookFailed{}); },
      [](Story& story) { story.step(2, Leaving{}); },
      [](Story& story) { story.recovers(2); },
      [](Story& story) { story.ended(2); },
  };
  for (const auto& disturb : disturbances) {
    Story story = formed();
    story.is_halted(1);
    story.wait(bound(story) / 2);
    Story calm = story;
    disturb(story);
    for (Story* each : {&story, &calm}) {
      each->wait(bound(story) / 2 + moment);
      each->step(3, Expired{});
    }
    BOOST_TEST(judge(calm).violated() == "2");
    BOOST_TEST(judge(story).violated() == "");
  }
}

BOOST_AUTO_TEST_CASE(of_a_journal_that_is_not_there_nothing_is_claimed) {
  Story story(3);
  for (std::uint32_t id : {1, 2}) {
    story.recovers(id);
    story.joins(id, 3, {1, NodeId{3}});
    story.starts(id);
  }
  story.wait(bound(story));
  story.step(1, Expired{});
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 1u);
  BOOST_TEST(judgement.not_claimed.front().why == "there is no journal of node 3");
}

BOOST_AUTO_TEST_SUITE_END()

// --- Cuts

BOOST_AUTO_TEST_SUITE(cuts)

// 3 is cut off, 1 and 2 form a group of their own; then it is healed, and all become one group.
Story cut_and_healed() {
  Story story = formed();
  story.fault(FaultKind::cut, 3, NodeSet{NodeId{1}, NodeId{2}});
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  story.wait(bound(story));
  story.fault(FaultKind::healed, 3, NodeSet{NodeId{1}, NodeId{2}});
  story.step(1, Expired{});
  for (std::uint32_t id : {1, 2, 3}) story.is_halted(id);
  story.form({1, 2, 3});
  return story;
}

BOOST_AUTO_TEST_CASE(nothing_is_claimed_from_cut_to_one_group_after_healed) {
  const Story story = cut_and_healed();
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 3u);
  for (const verify::NotClaimed& time : judgement.not_claimed) {
    BOOST_TEST(time.why == "assumption 8: node 3 cut off");
    BOOST_TEST((time.to - time.from > bound(story)));
  }
}

// A cut is no calm in which everybody could agree.
BOOST_AUTO_TEST_CASE(assertion_2_is_not_checked_while_nodes_are_cut_off) {
  BOOST_TEST(!judge(cut_and_healed()).holds("2"));
}

BOOST_AUTO_TEST_CASE(all_is_claimed_again_afterwards) {
  Story story = cut_and_healed();
  story.is_halted(1);
  story.joins(1, 2, {9, NodeId{2}});
  BOOST_TEST(judge(story).violated() == "1a");
}

BOOST_AUTO_TEST_CASE(nothing_is_claimed_before_all_is_healed) {
  Story story = formed();
  story.fault(FaultKind::cut, 3, NodeSet{NodeId{1}, NodeId{2}});
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  story.fault(FaultKind::healed, 3, NodeSet{NodeId{1}});
  story.fault(FaultKind::healed, 2, NodeSet{NodeId{1}});
  for (std::uint32_t id : {1, 2, 3}) story.is_halted(id);
  story.form({1, 2, 3});
  BOOST_TEST(judge(story).not_claimed.size() == 3u);
  story.is_halted(1);
  story.joins(1, 2, {9, NodeId{2}});
  BOOST_TEST(judge(story).violated() == "");
  story.fault(FaultKind::healed);
  story.is_halted(1);
  BOOST_TEST(judge(story).not_claimed.front().to == story.now());
}

// 6.12: two coordinators that each think all is well.
BOOST_AUTO_TEST_CASE(a_split_brain_that_does_not_heal_violates_assertion_2) {
  Story story = formed();
  story.fault(FaultKind::cut, 3);
  for (std::uint32_t id : {1, 2}) story.is_halted(id);
  story.form({1, 2});
  story.fault(FaultKind::healed, 3);
  story.wait(bound(story));
  story.step(1, Expired{});
  BOOST_TEST(judge(story).violated() == "2");
}

BOOST_AUTO_TEST_SUITE_END()

// --- Numbers and safe storage

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_AUTO_TEST_CASE(a_smaller_number_violates_group_grows) {
  Story story = formed();
  for (std::uint32_t id : {1, 2, 3}) story.is_halted(id);
  story.joins(1, 3, {0, NodeId{3}});
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "group-grows");
  BOOST_TEST(judgement.why("group-grows") == "node 1 accepted group 0.3 after group 1.3");
}

BOOST_AUTO_TEST_CASE(restarts_are_included) {
  Story story = formed();
  story.fault(FaultKind::killed, 1);
  story.recovers(1);
  story.joins(1, 3, {0, NodeId{3}});
  BOOST_TEST(judge(story).violated() == "group-grows");
}

BOOST_AUTO_TEST_CASE(but_not_a_wiped_node) {
  Story story = formed();
  story.fault(FaultKind::killed, 1);
  story.fault(FaultKind::wiped, 1);
  story[1].safe = {};
  story.recovers(1);
  story.joins(1, 3, {0, NodeId{3}});
  BOOST_TEST(judge(story).violated() == "");
}

// The number that it accepted was above its limit, and the Save did not come to its end.
BOOST_AUTO_TEST_CASE(an_acceptance_counts_once_its_save_is_performed) {
  Story story = formed();
  story.is_halted(1);
  story.joins(1, 3, {40, NodeId{3}}, true);
  Story durable = story;
  story.lines.pop_back();
  story[1].safe.counter_limit = 0;
  for (Story* each : {&story, &durable}) {
    each->fault(FaultKind::killed, 1);
    each->recovers(1);
    each->joins(1, 3, {39, NodeId{3}});
  }
  BOOST_TEST(judge(story).violated() == "");
  BOOST_TEST(judge(durable).violated() == "group-grows");
}

BOOST_AUTO_TEST_CASE(what_was_durable_survives) {
  Story story = formed();
  story.fault(FaultKind::killed, 1);
  story[1].safe.assigned.reset();
  story.recovers(1);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "durable");
  BOOST_TEST(judgement.why("durable") == "node 1 recovered no group, but group 1.3 was durable");
}

BOOST_AUTO_TEST_CASE(what_was_not_performed_may_be_there_or_not) {
  for (const bool kept : {false, true}) {
    Story story = formed();
    story.is_halted(1);
    const SafeState before = story[1].safe;
    story.joins(1, 3, {40, NodeId{3}}, true);
    story.lines.pop_back();
    story.fault(FaultKind::killed, 1);
    if (!kept) story[1].safe = before;
    story.recovers(1);
    BOOST_TEST(judge(story).violated() == "");
  }
}

BOOST_AUTO_TEST_CASE(an_incarnation_is_never_used_twice) {
  Story story = formed();
  story.fault(FaultKind::killed, 1);
  story.recovers(1);
  for (journal::Line& line : story.lines)
    if (auto* step = std::get_if<journal::Step>(&line); step && step->stamp.incarnation.value == 2)
      if (auto* recovered = std::get_if<Recovered>(&step->event))
        recovered->safe.incarnation = Incarnation{1};
  BOOST_TEST(judge(story).why("durable") ==
             "node 1 recovered incarnation 1, but incarnation 1 was durable");
}

BOOST_AUTO_TEST_SUITE_END()

// --- Hook grammar over several nodes

BOOST_AUTO_TEST_SUITE(grammar)

BOOST_AUTO_TEST_CASE(a_line_out_of_order_is_told_with_its_node) {
  Story story = formed();
  story.hook(2, Hook::start, Edge::begin);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "hook-grammar");
  BOOST_TEST(judgement.why("hook-grammar") ==
             "node 2: start (ticket 2) begins, but a stop is owed (P2)");
}

BOOST_AUTO_TEST_CASE(each_line_out_of_order_counts) {
  Story story = formed();
  story.hook(2, Hook::start, Edge::begin);
  story.hook(1, Hook::start, Edge::begin);
  BOOST_TEST(judge(story).violations("hook-grammar") == 2u);
}

// P4: reorganize begins while a member's stop has not ended.
BOOST_AUTO_TEST_CASE(reorganize_begins_when_every_member_has_ceased) {
  Story story(2);
  story.recovers(2);
  story.begins(1);
  story.step(1, Recovered{{story[1].life, 0, {}, {}, {}}}, {story.stop_action(1)});
  story.hook(1, Hook::stop, Edge::begin);
  story.joins(2, 2, {1, NodeId{2}});
  story.reorganizes(2, {1, 2});
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "hook-grammar");
  BOOST_TEST(judgement.why("hook-grammar") ==
             "node 1: reorganize of node 2 begins, but node 1 has not ceased (P4)");
}

BOOST_AUTO_TEST_CASE(a_member_that_failed_need_not_have_ceased) {
  Story story(2);
  story.recovers(2);
  story.begins(1);
  story.fault(FaultKind::killed, 1);
  story.joins(2, 2, {1, NodeId{2}});
  story.reorganizes(2, {1, 2});
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_CASE(reorganize_is_told_what_the_members_reported) {
  for (const bool of_report : {true, false}) {
    Story story = formed();
    for (journal::Line& line : story.lines)
      if (auto* edge = std::get_if<journal::HookEdge>(&line); edge && edge->members) {
        if (of_report)
          edge->members->front().report = Digest{7};
        else
          edge->members->front().group = GroupNumber{7, NodeId{1}};
      }
    BOOST_TEST(judge(story).why("hook-grammar") ==
               "node 1: reorganize of node 3 begins, but it is told of node 1 what that did not "
               "report (P4)");
  }
}

Letter halted_by_2() {
  return {NodeId{2}, Incarnation{1}, NodeId{1}, CallNumber{5},
          Halt{{NodeId{2}, Incarnation{1}, 1}}};
}

// P8: what was sent after a Save arrives after the Save was performed.
Story sent_after_a_save(bool performed_first) {
  Story story(2);
  for (std::uint32_t id : {1, 2}) story.recovers(id);
  story.step(2, Expired{}, {Save{story[2].safe}, Send{halted_by_2(), Bound::answer}});
  if (performed_first) story.performed(2);
  story.step(1, Received{halted_by_2()});
  if (!performed_first) story.performed(2);
  return story;
}

BOOST_AUTO_TEST_CASE(a_letter_arrives_after_the_saves_before_it) {
  BOOST_TEST(judge(sent_after_a_save(true)).violated() == "");
  const Judgement judgement = judge(sent_after_a_save(false));
  BOOST_TEST(judgement.violated() == "hook-grammar");
  BOOST_TEST(judgement.why("hook-grammar") ==
             "node 1: Halt of node 2 arrived before the Save before it was performed (P8)");
}

BOOST_AUTO_TEST_CASE(a_letter_that_was_sent_before_the_save_may_arrive_before_it) {
  Story story(2);
  for (std::uint32_t id : {1, 2}) story.recovers(id);
  story.step(2, Expired{}, {Send{halted_by_2(), Bound::answer}, Save{story[2].safe}});
  story.step(1, Received{halted_by_2()});
  story.performed(2);
  BOOST_TEST(judge(story).violated() == "");
}

BOOST_AUTO_TEST_CASE(a_letter_of_a_life_that_failed_in_its_save_was_never_sent) {
  Story story(2);
  for (std::uint32_t id : {1, 2}) story.recovers(id);
  story.step(2, Expired{}, {Save{story[2].safe}, Send{halted_by_2(), Bound::answer}});
  story.fault(FaultKind::killed, 2);
  story.recovers(2);
  story.step(1, Received{halted_by_2()});
  BOOST_TEST(judge(story).violated() == "hook-grammar");
}

// The stamp `killed` is older than the signal: the Save was performed after it, and the letter
// sent.
BOOST_AUTO_TEST_CASE(a_letter_of_the_last_moment_was_sent) {
  Story story(2);
  for (std::uint32_t id : {1, 2}) story.recovers(id);
  story.fault(FaultKind::killed, 2);
  story.step(2, Expired{}, {Save{story[2].safe}, Send{halted_by_2(), Bound::answer}});
  story.performed(2);
  story.step(1, Received{halted_by_2()});
  BOOST_TEST(judge(story).violated() == "");
}

// P1: the answer to a Halt arrives when the permits are revoked.
BOOST_AUTO_TEST_CASE(an_answer_to_a_halt_arrives_after_permits_are_revoked) {
  for (const bool revoked_first : {true, false}) {
    Story story = formed();
    const Letter answer{NodeId{1}, Incarnation{1}, NodeId{3}, CallNumber{5}, Answer{Halted{1}}};
    story.enter_election(1);
    story.step(1, Received{}, {story.stop_action(1), Send{answer, std::nullopt}});
    if (revoked_first) story.permits(1, PermitsEdge::revoked);
    story.step(3, Received{answer});
    const Judgement judgement = judge(story);
    BOOST_TEST(judgement.why("hook-grammar") ==
               (revoked_first
                    ? ""
                    : "node 3: Answer of node 1 arrived before its permits were revoked (P1)"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

// --- Journals

BOOST_AUTO_TEST_SUITE(journals)

BOOST_AUTO_TEST_CASE(in_which_there_is_nothing_to_check) {
  BOOST_TEST(judge(Story(3)).outcome.is_empty());
  Story faults(3);
  faults.fault(FaultKind::killed, 1);
  BOOST_TEST(judge(faults).outcome.is_empty());
  BOOST_TEST(!judge(faults).outcome.holds());
}

BOOST_AUTO_TEST_CASE(lines_before_the_first_line_of_their_life_are_refused) {
  Story story = formed();
  story.lines.erase(story.lines.begin());
  BOOST_TEST(failure(story) == "node 1 in life 1: this life has no first line before this one");
}

BOOST_AUTO_TEST_CASE(lines_that_are_there_twice_are_refused) {
  Story story = formed();
  story.lines.push_back(story.lines.back());
  BOOST_TEST(failure(story).find("comes after seq") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lines_that_are_missing_are_counted_and_excuse_what_follows) {
  Story story = formed();
  for (std::uint32_t id : {1, 2, 3}) story.is_halted(id);
  std::size_t dropped = 0;
  std::erase_if(story.lines, [&](const journal::Line& line) {
    const auto* edge = std::get_if<journal::HookEdge>(&line);
    const bool drop = edge && edge->stamp.node == NodeId{1} && edge->hook == Hook::stop &&
                      edge->edge == Edge::begin;
    dropped += drop;
    return drop;
  });
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST(judgement.outcome.missing_lines == dropped);
  BOOST_TEST(dropped == 2u);
}

// The older segments of a journal may have been removed.
BOOST_AUTO_TEST_CASE(may_begin_with_a_segment) {
  Story story(1);
  story.goes_on(1, [] {
    bully::State state;
    state.s = Status::Normal;
    state.c = ElectionId{NodeId{1}, Incarnation{1}, 1};
    state.d = Definition{"task"};
    state.g = GroupNumber{4, NodeId{1}};
    state.application = Activity::Working;
    return state;
  }());
  story[1].started = GroupNumber{4, NodeId{1}};
  story[1].seq = 500;
  story.is_halted(1);
  const Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST(judgement.outcome.missing_lines == 0u);
}

BOOST_AUTO_TEST_CASE(a_segment_that_goes_on_in_a_life_changes_nothing) {
  Story story = formed();
  const std::uint64_t seq = story[1].seq;
  const auto ticket = story[1].ticket;
  const auto kept = story[1];
  story.goes_on(1, bully::State{});
  story[1] = kept;
  story[1].seq = seq;
  story[1].ticket = ticket;
  story.is_halted(1);
  BOOST_TEST(judge(story).violated() == "");
  BOOST_TEST(judge(story).outcome.lives == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

// --- Verdicts

BOOST_AUTO_TEST_CASE(verdicts_as_the_manual_shows_them) {
  const auto line = [](const verify::Verdict& verdict) {
    std::string out;
    verify::verdict_line(out, verdict);
    return out;
  };
  BOOST_TEST(line(verify::Holds{"1a", 182655, {}}) ==
             "{\"assertion\":\"1a\",\"holds\":true,\"checked\":182655}\n");
  BOOST_TEST(line(verify::Violated{"1a",
                                   9,
                                   1,
                                   Duration(2),
                                   {{NodeId{1}, NodeId{3}}, "node 1 says this"},
                                   {"counterexample.jsonl", 5},
                                   {}}) ==
             "{\"assertion\":\"1a\",\"holds\":false,\"at\":{\"t_ns\":2,\"nodes\":[1,3]},"
             "\"why\":\"node 1 says this\",\"journal\":\"counterexample.jsonl\",\"line\":5,"
             "\"checked\":9,\"violations\":1}\n");
  BOOST_TEST(line(verify::NotClaimed{
                 "1a", Duration(7), Duration(9), "assumption 8: node 5 cut off", {}}) ==
             "{\"assertion\":\"1a\",\"holds\":null,\"from_ns\":7,\"to_ns\":9,"
             "\"why\":\"assumption 8: node 5 cut off\"}\n");
  BOOST_TEST(line(verify::Holds{"2", 3, std::chrono::seconds(2)}) ==
             "{\"assertion\":\"2\",\"holds\":true,\"checked\":3,\"bound_ns\":2000000000}\n");
}
