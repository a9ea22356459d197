#include <muster/journal/replay.hpp>
#include <muster/lab/simulator.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

// Seeded runs: the same whoever builds them, nothing violated as it ships, every kind of trouble
// seen, and what is not as it ships is caught.

namespace muster::test {
namespace {

using muster::operator<<;

std::string journal_of(const lab::SeedRun& run) {
  std::string text;
  for (const journal::Line& line : run.lines) journal::append_line(text, line);
  return text;
}

lab::Campaign run_seeds(const lab::Simulation& simulation, std::uint64_t first,
                        std::uint64_t last) {
  lab::Campaign campaign;
  for (std::uint64_t seed = first; seed <= last; ++seed)
    campaign.add(lab::run_seed(simulation, seed));
  return campaign;
}

// Where these change, a seed that was reported means another run from now on. Everything is in
// them: what the protocol does, and how the world draws.
BOOST_AUTO_TEST_CASE(a_seed_is_the_same_run_with_every_compiler_in_every_build) {
  std::string digests;
  for (std::uint64_t seed : {1u, 2u, 3u, 4u, 5u})
    digests += to_text(digest(journal_of(lab::run_seed({}, seed)))) + ' ';
  BOOST_TEST(
      digests ==
      "fb14785033cde3c1 f369c3fa2505eb6d 5970898ec03f2290 b2b0c36458a8fe45 85596db2da02447e ");
}

// Where more is saved, more waits: a caller may have failed, and be back with the same number. A
// pause inside a save that only this switch asks for goes unnoticed (docs/findings.md): without.
BOOST_AUTO_TEST_CASE(an_answer_goes_to_the_life_that_called) {
  lab::Simulation simulation;
  simulation.most_nodes = 5;
  simulation.repairs.save_promises_only = false;
  simulation.allowed.erase(lab::Trouble::pause);
  simulation.allowed.erase(lab::Trouble::short_pause);
  BOOST_TEST(run_seeds(simulation, 1, 40).violating.empty());
}

BOOST_AUTO_TEST_CASE(what_is_not_as_it_ships_is_caught) {
  lab::Simulation simulation;
  simulation.most_nodes = 5;
  simulation.repairs.normal_for_me = false;
  BOOST_TEST(!run_seeds(simulation, 10, 14).violating.empty());
}

lab::Simulation inviting() {
  lab::Simulation simulation;
  simulation.protocol = ProtocolName::invitation;
  return simulation;
}

BOOST_AUTO_TEST_CASE(nothing_of_the_invitation_is_violated_by_any_kind_of_trouble) {
  const lab::Campaign campaign = run_seeds(inviting(), 1, 100);
  for (std::uint64_t seed : campaign.violating) BOOST_ERROR("seed " + std::to_string(seed));
  for (lab::Trouble trouble : campaign.missing({})) BOOST_ERROR("never: " + to_text(trouble));
  for (const char* assertion : {"3a", "3b", "4", "group-grows", "durable", "hook-grammar"})
    BOOST_TEST(campaign.judged.at(assertion).checked > 0u, assertion);
  BOOST_TEST(campaign.judged.at("4").not_checked == 0u);
  BOOST_TEST(campaign.drained > 0u);
}

BOOST_AUTO_TEST_CASE(a_counter_that_is_not_safe_is_caught) {
  lab::Simulation simulation = inviting();
  simulation.most_nodes = 5;
  simulation.invitation_repairs.safe_counter = false;
  BOOST_TEST(!run_seeds(simulation, 1, 4).violating.empty());
}

// It claims next to nothing, and that holds.
BOOST_AUTO_TEST_CASE(what_the_textbooks_bully_claims_holds) {
  lab::Simulation simulation;
  simulation.protocol = ProtocolName::textbook;
  simulation.most_nodes = 5;
  const lab::Campaign campaign = run_seeds(simulation, 1, 100);
  for (std::uint64_t seed : campaign.violating) BOOST_ERROR("seed " + std::to_string(seed));
  BOOST_TEST(campaign.judged.at("2").checked > 0u);
  BOOST_TEST(!campaign.judged.contains("1a"));
}

BOOST_AUTO_TEST_CASE(every_step_of_a_seed_replays_exactly) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const lab::SeedRun run = lab::run_seed({}, seed);
    replay::Replayer replayer;
    for (const journal::Line& line : run.lines)
      BOOST_REQUIRE(!replayer.take(line).value().has_value());
    BOOST_TEST(replayer.exact_steps() == run.steps);
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_violated_and_every_kind_of_trouble_is_seen) {
  const lab::Campaign campaign = run_seeds({}, 1, 300);
  for (std::uint64_t seed : campaign.violating) BOOST_ERROR("seed " + std::to_string(seed));
  for (lab::Trouble trouble : campaign.missing({})) BOOST_ERROR("never: " + to_text(trouble));
  for (const auto& [assertion, judged] : campaign.judged)
    BOOST_TEST(judged.checked > 0u, assertion + " was never checked");
  // In 2 of 3,000 seeds no calm lasts long enough to claim it; seed 193 is one.
  BOOST_TEST(campaign.judged.at("2").not_checked <= 1u);
}

}  // namespace
}  // namespace muster::test
