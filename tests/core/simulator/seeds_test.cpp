#include <muster/journal/replay.hpp>
#include <muster/lab/simulator.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

// Seeded runs of the simulator. Every build must give the same runs, the protocol as it ships must
// violate nothing, every kind of trouble must take place, and the simulator must catch a wrong
// protocol.

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

// If these digests change, a seed that was reported earlier no longer repeats its run. The digests
// depend on everything: on the protocol, and on the random choices of the world.
BOOST_AUTO_TEST_CASE(a_seed_is_the_same_run_with_every_compiler_in_every_build) {
  std::string digests;
  for (std::uint64_t seed : {1u, 2u, 3u, 4u, 5u})
    digests += to_text(digest(journal_of(lab::run_seed({}, seed)))) + ' ';
  BOOST_TEST(
      digests ==
      "fb14785033cde3c1 f369c3fa2505eb6d 5970898ec03f2290 b2b0c36458a8fe45 85596db2da02447e ");
}

// With this switch off a node saves more, so its answers wait longer. During that wait the caller
// may fail, and its next life may use the same call number. A pause inside such an additional save
// is not noticed (docs/findings.md), so the test runs without pauses.
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

// The textbook Bully claims next to nothing, and these claims hold.
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
  // In 2 of 3,000 seeds no time without faults is long enough for Assertion 2 to be claimed. Seed
  // 193 is one of them.
  BOOST_TEST(campaign.judged.at("2").not_checked <= 1u);
}

}  // namespace
}  // namespace muster::test
