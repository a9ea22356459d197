#include "apps/postgres/script.hpp"

#include "apps/postgres/lab/lab.hpp"

#include <muster/values/text.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <ostream>
#include <string>
#include <vector>

// Runs keepers on the lab's model. `./dev bench postgres_model` runs 10,000 seeds and larger
// searches, and shows how each mutant is found.

namespace muster::postgres::test {
namespace {

using lab::Options;
using lab::Troubles;

Options of_five() {
  Options options;
  options.nodes = 5;
  options.copies_of_commit = 3;
  return options;
}

Options with_witness() {
  Options options;
  options.witness = true;
  return options;
}

/// A cluster that gets another list of nodes, or more copies.
Options then(Options options, NodeSet nodes, unsigned copies) {
  options.next = Copies{std::move(nodes), copies, {}, 2};
  return options;
}

/// The violated claim, in the words that a failed test shows.
template <class Report>
std::string found(const Report& report) {
  if (!report.finding) return "";
  std::string said = report.finding->violated;
  for (const std::string& line : report.finding->story) said += "\n  " + line;
  return said;
}

/// All faults, but no node leaves in order or hands over.
Troubles without_leaves(unsigned hand_overs = 0) {
  Troubles troubles;
  troubles.leaves = 0;
  troubles.hand_overs = hand_overs;
  return troubles;
}

/// All faults, but no node leaves in order or hands over. Sometimes a backup is restored, or an
/// operator discards a node's data.
Troubles with_restores() {
  Troubles troubles = without_leaves();
  troubles.restores = troubles.rejoins = lab::any_number;
  return troubles;
}

/// All faults, but no node leaves in order or hands over. Sometimes an administrator sets the
/// standby names of a server to none.
Troubles with_settings() {
  Troubles troubles = without_leaves();
  troubles.settings = lab::any_number;
  return troubles;
}

/// All faults, but no node leaves in order or hands over. Sometimes a primary removes all of its
/// log.
Troubles with_recycling() {
  Troubles troubles = without_leaves();
  troubles.recycled = lab::any_number;
  return troubles;
}

/// All faults, but no node leaves in order or hands over. Some standbys admit no session.
Troubles with_refusals() {
  Troubles troubles = without_leaves();
  troubles.refusals = lab::any_number;
  return troubles;
}

/// All faults, but no node leaves in order or hands over. Primaries repeat their markers.
Troubles with_markers() {
  Troubles troubles = without_leaves();
  troubles.repeats = lab::any_number;
  return troubles;
}

/// The same. Sometimes a server removes log that it has flushed.
Troubles with_recycled_markers() {
  Troubles troubles = with_markers();
  troubles.recycled = lab::any_number;
  return troubles;
}

/// The same. Sometimes a role of a database writes a marker of its own.
Troubles with_forgers() {
  Troubles troubles = with_markers();
  troubles.forged = lab::any_number;
  return troubles;
}

/// The same. Sometimes a role of a database copies a marker, from the same log or from that of
/// another node.
Troubles with_copiers() {
  Troubles troubles = with_recycled_markers();
  troubles.replayed = troubles.replayed_elsewhere = lab::any_number;
  return troubles;
}

/// The same. Sometimes an administrator restores a dump of the table of terms.
Troubles with_dumps() {
  Troubles troubles = with_markers();
  troubles.rewritten = lab::any_number;
  return troubles;
}

/// Everything that somebody can do to the markers of the logs, and to the table.
Troubles with_all_of_markers() {
  Troubles troubles;
  troubles.repeats = troubles.recycled = troubles.forged = troubles.replayed =
      troubles.replayed_elsewhere = troubles.rewritten = lab::any_number;
  return troubles;
}

/// A cluster whose nodes change from the version before, which knows rows only, to this version.
Options upgraded(Options options) {
  options.upgrade = true;
  return options;
}

/// All faults, but no node leaves in order or hands over. Sometimes an administrator promotes a
/// standby.
Troubles with_promotions() {
  Troubles troubles = without_leaves();
  troubles.promotions = lab::any_number;
  return troubles;
}

/// A rule that is struck out, and a run that shows what the rule prevents.
struct Mutant {
  Line line{};
  std::uint64_t seed{};
  std::string violated;
  Troubles troubles = without_leaves();
  Options cluster{};
};

std::ostream& operator<<(std::ostream& out, const Mutant& mutant) {
  return out << enumerator_name(mutant.line);
}

const std::string lost = "opens, and an acknowledged commit is not in its log";
const std::string late = "acknowledges a commit that was sent after a newer group's first";
const std::string corrupted = "which does not continue its own";
const std::string dead_end = "no fault is left, but the cluster does not come to rest";

const std::vector<Mutant> mutants = {
    {Line::fork_is_left_out, 237, lost, with_promotions()},
    {Line::groups_are_the_order, 89, lost},
    {Line::heir_is_equal, 7, lost, without_leaves(lab::any_number)},
    {Line::prefix_by_term, 13, corrupted},
    {Line::names_are_fixed, 7, lost, with_settings()},
    {Line::slots_are_the_gate, 4027, lost},
    {Line::short_files_go, 11969, lost},
    {Line::names_never_relaxed, 5, late},
    {Line::marker_of_the_group, 11, lost},
    {Line::marker_before_name, 162, lost},
    {Line::receiver_ends_first, 2451, dead_end},
    {Line::held_counts, 157, dead_end},
    {Line::held_is_not_chosen, 4891, dead_end},
    {Line::held_is_a_bound, 640, lost},
    {Line::resynced_under_no_name, 769, lost},
    {Line::gone_log_is_cloned, 3, dead_end, with_recycling()},
    {Line::restored_does_not_count, 9, lost, with_restores()},
    {Line::list_before_counts, 45, dead_end, {}, then({}, {one, two, three}, 3)},
    {Line::files_are_evidence, 1, dead_end, with_refusals()},
    {Line::markers_repeat, 2, dead_end, with_recycled_markers()},
    {Line::markers_are_signed, 90, lost, with_forgers()},
    {Line::marker_is_of_its_place, 484, corrupted, with_copiers()},
    {Line::markers_decide, 46, lost, with_dumps()},
    {Line::rows_count_until_all_know, 7, lost, with_markers(), upgraded({})},
    {Line::counted_is_recorded, 17, lost, with_recycled_markers()},
    {Line::holders_are_chosen, 3, lost, {}, with_witness()},
    {Line::holders_held_all_before, 555, lost, {}, with_witness()},
    {Line::promise_is_known_first, 749, lost, {}, with_witness()},
    {Line::demand_is_in_force, 679, lost, {}, with_witness()},
    {Line::demand_is_copied, 29527, lost, {}, with_witness()},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(model)

BOOST_AUTO_TEST_CASE(a_death_at_every_point_of_a_fail_over_loses_nothing) {
  const lab::Report report = lab::crash_everywhere({});
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.counts.runs > 1000);
  BOOST_TEST(report.counts.promotions > report.counts.runs);
}

BOOST_AUTO_TEST_CASE(seeds_of_three_nodes_lose_nothing) {
  const lab::Report report = lab::run_seeds({}, 1, 1000);
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.counts.acknowledged > 3000);
  BOOST_TEST(report.counts.rewinds > 50);
  BOOST_TEST(report.counts.clones > 100);
  BOOST_TEST(report.counts.leaves > 100);
  BOOST_TEST(report.counts.hand_overs > 20);
}

BOOST_AUTO_TEST_CASE(seeds_of_five_nodes_lose_nothing) {
  const lab::Report report = lab::run_seeds(of_five(), 1, 250);
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.counts.acknowledged > 500);
}

BOOST_AUTO_TEST_CASE(a_death_at_every_point_beside_a_witness_loses_nothing) {
  const lab::Report report = lab::crash_everywhere(with_witness());
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.counts.runs > 500);
  BOOST_TEST(report.counts.alone > 500);
}

BOOST_AUTO_TEST_CASE(seeds_of_two_nodes_and_a_witness_lose_nothing) {
  const lab::Report report = lab::run_seeds(with_witness(), 1, 1000);
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.counts.acknowledged > 3000);
  BOOST_TEST(report.counts.alone > 1000);
}

BOOST_AUTO_TEST_CASE(seeds_in_which_backups_are_restored_lose_nothing) {
  for (const Options& nodes : {Options(), of_five(), with_witness()}) {
    Options options = nodes;
    options.troubles.restores = options.troubles.rejoins = lab::any_number;
    const lab::Report report = lab::run_seeds(options, 1, options.nodes == 3 ? 1000 : 250);
    BOOST_TEST(found(report) == "");
    BOOST_TEST(report.counts.restores > 50);
    BOOST_TEST(report.counts.clones > 100);
  }
}

BOOST_AUTO_TEST_CASE(seeds_in_which_nodes_come_and_go_lose_nothing) {
  const NodeId four{4}, five{5};
  for (const Options& list :
       {then({}, {one, two, three, four, five}, 3), then({}, {one, two, four}, 2),
        then({}, {one, two, three}, 3), then(of_five(), {one, two, three}, 2)}) {
    const lab::Report report = lab::run_seeds(list, 1, 50);
    BOOST_TEST(found(report) == "");
    BOOST_TEST(report.counts.next > 40);
    Options hasty = list;
    hasty.hasty = true;
    BOOST_TEST(found(lab::run_seeds(hasty, 1, 50)) == "");
  }
}

// PostgreSQL may fail to start because a port is in use or a setting is wrong. Then the keeper
// starts it again, and does not clone the node.
BOOST_AUTO_TEST_CASE(seeds_in_which_postgresql_does_not_begin_lose_nothing) {
  Options options;
  options.troubles.early_ends = lab::any_number;
  const lab::Report report = lab::run_seeds(options, 1, 1000);
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.counts.acknowledged > 2000);
  BOOST_TEST(report.counts.early_ends > 500);

  options.troubles = lab::no_troubles;
  options.troubles.commits = options.troubles.elections = options.troubles.node_kills =
      lab::any_number;
  const lab::Report without = lab::run_seeds(options, 1, 300);
  options.troubles.early_ends = lab::any_number;
  const lab::Report with = lab::run_seeds(options, 1, 300);
  BOOST_TEST(found(with) == "");
  BOOST_TEST(with.counts.early_ends > 100);
  // If an early end caused a clone, there would be one more clone for each early end.
  BOOST_TEST(with.counts.clones < without.counts.clones + with.counts.early_ends / 2);
}

BOOST_AUTO_TEST_CASE(seeds_of_what_administrators_do_lose_nothing_and_come_to_rest) {
  for (Options options : {Options(), of_five(), with_witness()}) {
    options.troubles.recycled = options.troubles.settings = options.troubles.refusals =
        lab::any_number;
    options.troubles.promotions = lab::any_number;
    const lab::Report report = lab::run_seeds(options, 1, 300);
    BOOST_TEST(found(report) == "");
    BOOST_TEST(report.counts.clones > 50);
  }
}

// The log that is left often has no marker. Roles write markers of their own and copy others, and
// dumps of the table are restored.
BOOST_AUTO_TEST_CASE(seeds_in_which_markers_are_removed_and_forged_lose_nothing) {
  for (const Options& nodes : {Options(), of_five(), with_witness()})
    for (const bool restores : {false, true}) {
      Options options = nodes;
      options.troubles = with_all_of_markers();
      if (restores) options.troubles.restores = options.troubles.rejoins = lab::any_number;
      const lab::Report report = lab::run_seeds(options, 1, options.nodes == 3 ? 1000 : 250);
      BOOST_TEST(found(report) == "");
      BOOST_TEST(report.counts.acknowledged > 500);
      BOOST_TEST(report.counts.clones > 200);
    }
}

BOOST_AUTO_TEST_CASE(seeds_in_which_nodes_are_upgraded_lose_nothing) {
  for (const Options& nodes : {Options(), of_five(), with_witness()})
    for (const bool recycled : {false, true}) {
      Options options = upgraded(nodes);
      options.troubles.repeats = lab::any_number;
      options.troubles.recycled = options.troubles.forged = recycled ? lab::any_number : 0;
      options.troubles.restores = options.troubles.rejoins = recycled ? lab::any_number : 0;
      const lab::Report report = lab::run_seeds(options, 1, options.nodes == 3 ? 1000 : 250);
      BOOST_TEST(found(report) == "");
      BOOST_TEST(report.counts.acknowledged > 500);
    }
}

BOOST_AUTO_TEST_CASE(a_seed_is_always_the_same_run) {
  BOOST_TEST(lab::run_seeds({}, 17, 1).counts == lab::run_seeds({}, 17, 1).counts);
}

// An election of any set of nodes while a client commits. The bench visits all 182,609 worlds.
BOOST_AUTO_TEST_CASE(an_election_beside_a_commit_is_searched) {
  Options options;
  options.prompt = true;
  options.troubles = Troubles{1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  const lab::SearchReport report = lab::search(options, 15'000);
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.states == 15'000U);
  BOOST_TEST(report.depth > 15U);
}

BOOST_AUTO_TEST_CASE(a_commit_and_the_end_of_any_postgresql_are_searched_to_the_end) {
  Options options;
  options.troubles = Troubles{1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  const lab::SearchReport report = lab::search(options, 0);
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.ended);
  BOOST_TEST(report.states > 3'000U);
}

// An orderly shutdown during a commit and an election of any set of nodes.
BOOST_AUTO_TEST_CASE(a_node_that_leaves_and_one_that_hands_over_are_searched) {
  for (const unsigned leaves : {0U, 1U}) {
    Options options;
    options.prompt = true;
    options.troubles = lab::no_troubles;
    options.troubles.commits = options.troubles.elections = 1;
    (leaves != 0 ? options.troubles.leaves : options.troubles.hand_overs) = 1;
    const lab::SearchReport report = lab::search(options, 10'000);
    BOOST_TEST(found(report) == "");
    BOOST_TEST(report.states == 10'000U);
  }
}

BOOST_AUTO_TEST_CASE(the_beginning_of_every_death_is_searched) {
  Options options;
  options.troubles = Troubles{1, 1, 0, 1, 1, 0, 0, 0, 0, 0};
  const lab::SearchReport report = lab::search(options, 10'000);
  BOOST_TEST(found(report) == "");
  BOOST_TEST(report.states == 10'000U);
}

BOOST_DATA_TEST_CASE(a_line_that_is_struck_breaks_a_claim, mutants) {
  Options options = sample.cluster;
  options.troubles = sample.troubles;
  options.struck = {sample.line};
  const lab::Report report = lab::run_seeds(options, sample.seed, 1);
  BOOST_REQUIRE(report.finding.has_value());
  BOOST_TEST(says(report.finding->violated, sample.violated));
  options.struck = {};
  BOOST_TEST(found(lab::run_seeds(options, sample.seed, 1)) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
