#include "apps/postgres/script.hpp"

#include "apps/postgres/lab/lab.hpp"

#include <muster/values/text.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <ostream>
#include <string>
#include <vector>

// Keepers over the model. 10,000 seeds, larger searches and what finds each mutant:
// `./dev bench postgres_model`.

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

/// What was found, as a test shows it.
template <class Report>
std::string found(const Report& report) {
  if (!report.finding) return "";
  std::string said = report.finding->violated;
  for (const std::string& line : report.finding->story) said += "\n  " + line;
  return said;
}

/// Whatever fails, and nobody leaves in order; nor hands over.
Troubles without_leaves(unsigned hand_overs = 0) {
  Troubles troubles;
  troubles.leaves = 0;
  troubles.hand_overs = hand_overs;
  return troubles;
}

/// A backup is put back now and then, too, and owners throw data away.
Troubles with_restores() {
  Troubles troubles = without_leaves();
  troubles.restores = troubles.rejoins = lab::any_number;
  return troubles;
}

/// A line that is struck, and a run that shows what it is for.
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
const std::string corrupted = "which does not continue its own";
const std::string dead_end = "nothing fails any more, and it does not come to rest";

const std::vector<Mutant> mutants = {
    {Line::groups_are_the_order, 90, lost},
    {Line::heir_is_equal, 7, lost, without_leaves(lab::any_number)},
    {Line::prefix_by_row, 13, corrupted},
    {Line::prefix_is_sealed, 5258, dead_end},
    {Line::names_are_the_gate, 178785, lost},
    {Line::names_never_relaxed, 10, lost},
    {Line::row_of_the_group, 46, lost},
    {Line::row_is_copied, 1968, lost},
    {Line::receiver_ends_first, 1333, corrupted},
    {Line::held_counts, 2774, dead_end},
    {Line::held_is_not_chosen, 284, dead_end},
    {Line::held_is_a_bound, 320, lost},
    {Line::mended_under_no_name, 2522, lost},
    {Line::group_in_every_follow, 13657, corrupted},
    {Line::restored_counts_for_nothing, 134, lost, with_restores()},
    {Line::list_before_counts, 53, lost, {}, then({}, {one, two, three}, 3)},
    {Line::holders_are_chosen, 33, lost, {}, with_witness()},
    {Line::holders_held_all_before, 1235, lost, {}, with_witness()},
    {Line::promise_is_known_first, 1727, lost, {}, with_witness()},
    {Line::demand_is_copied, 1235, lost, {}, with_witness()},
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

BOOST_AUTO_TEST_CASE(seeds_in_which_backups_are_put_back_lose_nothing) {
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

// A port that is taken, a setting that is wrong: it is begun again, and nobody is cloned for it.
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
  // Else each would be a clone.
  BOOST_TEST(with.counts.clones < without.counts.clones + with.counts.early_ends / 2);
}

BOOST_AUTO_TEST_CASE(a_seed_is_always_the_same_run) {
  BOOST_TEST(lab::run_seeds({}, 17, 1).counts == lab::run_seeds({}, 17, 1).counts);
}

// An election of any set of nodes while a client commits: 240,598 worlds, to the end in the bench.
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
  BOOST_TEST(report.states > 10'000U);
}

// A shutdown in order beside a commit and an election of any set of nodes.
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
