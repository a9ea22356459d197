#include "core/lab/findings.hpp"

#include <muster/claims/verify.hpp>
#include <muster/journal/journal.hpp>
#include <muster/journal/replay.hpp>
#include <muster/lab/checker.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

/// The checker's verdicts in small worlds, and its reports.

namespace muster::lab {

namespace {

CheckReport run(const Bounds& bounds) {
  return check(bounds, [](const Progress&) {});
}

Bounds two_nodes(unsigned failures) {
  Bounds bounds;
  bounds.nodes = 2;
  bounds.failures = failures;
  bounds.queue = 8;
  return bounds;
}

findings::Row row(const std::string& id) {
  const auto rows = findings::rows();
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const findings::Row& row) { return row.id == id; });
}

std::vector<journal::Line> lines_of(const std::string& text) {
  std::vector<journal::Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    auto line = journal::parse_line(std::string_view(text).substr(at, end - at));
    BOOST_REQUIRE_MESSAGE(line.has_value(), "line " << lines.size() + 1);
    lines.push_back(std::move(*line));
    at = end + 1;
  }
  return lines;
}

/// True if `muster verify` finds that the journal violates the assertion. The function also checks
/// that each received letter was sent.
bool is_found_violated(const std::string& journal, const std::string& assertion) {
  const auto lines = lines_of(journal);
  verify::Foreseer foreseer;
  for (const journal::Line& line : lines) foreseer.take(line);
  verify::Verifier verifier(
      foreseer.finish(), [](const verify::NotClaimed&) {},
      [](const verify::Violated& violated) {
        const std::string& why = violated.disagreement.why;
        BOOST_TEST(why.find("never sent") == std::string::npos, why);
      });
  verifier.ask({assertion});
  for (std::size_t i = 0; i < lines.size(); ++i)
    BOOST_REQUIRE(verifier.take(lines[i], {"journal", i + 1}).has_value());
  const verify::Outcome outcome = verifier.finish();
  return std::any_of(outcome.verdicts.begin(), outcome.verdicts.end(),
                     [&](const verify::Verdict& verdict) {
                       const auto* wrong = std::get_if<verify::Violated>(&verdict);
                       return wrong && wrong->assertion == assertion;
                     });
}

/// How many steps of the journal `muster replay` repeats exactly.
std::uint64_t steps_replayed(const std::string& journal) {
  replay::Replayer replayer;
  for (const journal::Line& line : lines_of(journal)) {
    const auto difference = replayer.take(line);
    BOOST_REQUIRE(difference.has_value());
    BOOST_TEST(!difference->has_value());
  }
  BOOST_TEST(replayer.passed_over() == 0u);
  return replayer.exact_steps();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checker)

BOOST_AUTO_TEST_CASE(two_nodes_that_fail_keep_the_assertions) {
  Bounds bounds = two_nodes(1);
  bounds.counters = true;
  const CheckReport report = run(bounds);
  BOOST_TEST(report.exhausted());
  BOOST_TEST(!report.counterexample);
  BOOST_TEST(report.progress.states > 1000u);
}

// In the Bully a restored node learns the later numbers from the nodes that it halts. In the
// Invitation algorithm it begins alone.
BOOST_AUTO_TEST_CASE(a_restored_store_gives_no_number_twice_to_a_halted_node) {
  Bounds bounds = two_nodes(1);
  bounds.restores = 1;
  bounds.counters = true;
  bounds.queue = 2;
  const CheckReport bully = run(bounds);
  BOOST_TEST(bully.ended);
  BOOST_TEST(!bully.counterexample);
  bounds.protocol = ProtocolName::invitation;
  const CheckReport invitation = run(bounds);
  BOOST_TEST_REQUIRE(invitation.counterexample.has_value());
  BOOST_TEST(invitation.counterexample->assertion == "3b");
  BOOST_TEST(invitation.counterexample->story.journal.find(R"("fault":"restored")") !=
             std::string::npos);
  BOOST_TEST(steps_replayed(invitation.counterexample->story.journal) > 10u);
}

BOOST_AUTO_TEST_CASE(what_a_full_queue_cuts_is_counted_and_not_called_exhausted) {
  Bounds bounds = two_nodes(1);
  bounds.queue = 1;
  const CheckReport report = run(bounds);
  BOOST_TEST(report.ended);
  BOOST_TEST(report.cut > 0u);
  BOOST_TEST(!report.exhausted());
}

// The search checks its limit of states only from time to time, so it can find a violation beyond
// this limit. Then a second search finds the way to that violation.
BOOST_AUTO_TEST_CASE(what_was_found_before_a_limit_was_noticed_is_told) {
  Bounds bounds = row("M1").bounds;
  const CheckReport free = run(bounds);
  BOOST_REQUIRE(free.counterexample);
  bounds.limit_states = free.progress.states * 9 / 10;
  const CheckReport limited = run(bounds);
  BOOST_REQUIRE(limited.counterexample);
  BOOST_TEST(limited.counterexample->story.lines.size() == free.counterexample->story.lines.size());
}

BOOST_AUTO_TEST_CASE(threads_see_the_same_worlds) {
  Bounds bounds = two_nodes(2);
  const CheckReport one = run(bounds);
  bounds.threads = 3;
  const CheckReport three = run(bounds);
  BOOST_TEST(one.progress.states == three.progress.states);
  BOOST_TEST(one.progress.transitions == three.progress.transitions);
  BOOST_TEST(one.progress.depth == three.progress.depth);
}

BOOST_AUTO_TEST_CASE(the_journal_of_a_counterexample_is_replayed_and_found_violated) {
  const CheckReport report = run(row("U1").bounds);
  BOOST_REQUIRE(report.counterexample);
  const std::string& journal = report.counterexample->story.journal;
  BOOST_TEST(steps_replayed(journal) > 3u);
  BOOST_TEST(is_found_violated(journal, "1a"));
}

BOOST_AUTO_TEST_CASE(a_state_that_cannot_be_is_a_verdict) {
  Bounds bounds;
  bounds.failures = 1;
  bounds.struck = {Line::status_test_of_ready, Line::c_test};
  const CheckReport report = run(bounds);
  BOOST_REQUIRE(report.counterexample);
  BOOST_TEST(report.counterexample->assertion == "sound-state");
  const std::string& journal = report.counterexample->story.journal;
  BOOST_TEST(steps_replayed(journal) > 3u);
  BOOST_TEST(is_found_violated(journal, "sound-state"));
}

BOOST_AUTO_TEST_CASE(failures_between_two_actions_change_no_verdict) {
  Bounds holds;
  holds.failures = 1;
  holds.start = {NodeId{1}, NodeId{2}, NodeId{3}};
  for (Bounds bounds : {holds, row("M1").bounds, row("P2").bounds}) {
    const CheckReport whole = run(bounds);
    bounds.split_actions = true;
    const CheckReport split = run(bounds);
    BOOST_TEST(split.progress.transitions > whole.progress.transitions);
    BOOST_REQUIRE(split.counterexample.has_value() == whole.counterexample.has_value());
    if (!whole.counterexample) continue;
    BOOST_TEST(split.counterexample->assertion == whole.counterexample->assertion);
    BOOST_TEST(split.counterexample->story.counted <= whole.counterexample->story.counted);
  }
}

BOOST_AUTO_TEST_CASE(the_journal_of_a_failure_within_a_step_is_replayed) {
  Bounds bounds = row("P2").bounds;
  bounds.split_actions = true;
  const CheckReport report = run(bounds);
  BOOST_REQUIRE(report.counterexample);
  BOOST_TEST(steps_replayed(report.counterexample->story.journal) > 3u);
}

BOOST_AUTO_TEST_CASE(only_what_is_asked_for_is_looked_at) {
  Bounds bounds = row("M4b").bounds;
  bounds.assertions = {};
  const CheckReport all = run(bounds);
  BOOST_REQUIRE(all.counterexample);
  BOOST_TEST(all.counterexample->assertion == "hook-grammar");
}

// One step may violate more than one assertion.
BOOST_AUTO_TEST_CASE(what_is_asked_for_is_found_beside_what_is_not) {
  Bounds bounds = row("U1").bounds;
  bounds.hooks = Hooks::slow;
  bounds.struck.push_back(Line::reorganize_after_stops);
  for (const char* assertion : {"hook-grammar", "1a"}) {
    bounds.assertions = {assertion};
    const CheckReport report = run(bounds);
    BOOST_REQUIRE_MESSAGE(report.counterexample, assertion);
    BOOST_TEST(report.counterexample->assertion == assertion);
  }
}

BOOST_AUTO_TEST_CASE(a_world_that_cannot_be_searched_is_refused) {
  const auto refuses = [](const Bounds& bounds, const std::string& why) {
    BOOST_CHECK_EXCEPTION(run(bounds), std::invalid_argument, [&](const auto& refusal) {
      return std::string(refusal.what()) == "lab::check: " + why;
    });
  };
  Bounds bounds;
  bounds.nodes = 6;
  refuses(bounds, "Bounds::nodes is 6; the checker searches 1 to 5 nodes");
  bounds.nodes = 2;
  bounds.start = {NodeId{3}};
  refuses(bounds, "Bounds::start has node 3; the nodes are 1 to 2");
  bounds.start = {};
  bounds.assertions = {"1c"};
  refuses(bounds, "Bounds::assertions has '1c', which is not an assertion about single worlds");
}

BOOST_AUTO_TEST_CASE(the_verdict_is_the_same_without_the_canonical_form) {
  // The other rows have several shortest ways to the violation. The searches may find different
  // ones, so for these rows the test compares only the lengths.
  const std::set<std::string> one_way = {"U1", "S2", "M1", "M2", "P2"};
  for (const char* id : {"U1", "S2", "M1", "M2", "P2", "P2b", "P2g", "D1"}) {
    Bounds bounds = row(id).bounds;
    bounds.liveness = false;
    const CheckReport with = run(bounds);
    bounds.canonical = false;
    const CheckReport without = run(bounds);
    BOOST_REQUIRE(with.counterexample && without.counterexample);
    BOOST_TEST(with.counterexample->assertion == without.counterexample->assertion);
    if (one_way.contains(id))
      BOOST_TEST(with.counterexample->story.counted == without.counterexample->story.counted);
    BOOST_TEST(with.counterexample->story.lines.size() <=
               without.counterexample->story.lines.size());
  }
}

// The search treats letters without an effect as delivered. The report must show their delivery, or
// the journal made from it would have gaps.
BOOST_AUTO_TEST_CASE(the_story_delivers_what_the_search_took_for_taken) {
  const CheckReport report = run(row("D3").bounds);
  BOOST_REQUIRE(report.counterexample);
  const auto& lines = report.counterexample->story.lines;
  BOOST_TEST(report.progress.depth < lines.size());
  for (const std::string& line : lines)
    BOOST_TEST(line.find("a fault of the checker") == std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(the_quick_rows_of_the_table_have_their_verdicts) {
  for (const findings::Row& row : findings::rows()) {
    if (!row.quick) continue;
    const CheckReport report = run(row.bounds);
    BOOST_TEST_CONTEXT(row.id << ": " << findings::command_of(row.bounds)) {
      if (row.expected == findings::Verdict::violated) {
        BOOST_REQUIRE(report.counterexample);
        BOOST_TEST(report.counterexample->assertion == row.assertion);
        const std::string& journal = report.counterexample->story.journal;
        BOOST_TEST(is_found_violated(journal, row.assertion));
        if (row.counted > 0) BOOST_TEST(report.counterexample->story.counted <= row.counted);
      } else {
        BOOST_TEST(!report.counterexample);
      }
      if (row.bounds.liveness) {
        BOOST_REQUIRE(report.wedged);
        BOOST_TEST((report.wedged->worlds == 0) == row.reaches_2);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::lab
