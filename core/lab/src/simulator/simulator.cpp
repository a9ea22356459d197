#include <muster/lab/simulator.hpp>

#include "counting.hpp"
#include "trials.hpp"
#include "troubles.hpp"

#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::lab {

namespace {

bool disturbs(const journal::Line& line) {
  if (const auto* step = std::get_if<journal::Step>(&line)) return verify::disturbs(*step);
  return std::holds_alternative<journal::Header>(line) ||
         std::holds_alternative<journal::Fault>(line) ||
         std::holds_alternative<journal::Ended>(line);
}

Duration last_disturbance(const std::deque<journal::Line>& lines) {
  const auto last = std::find_if(lines.rbegin(), lines.rend(), disturbs);
  return last == lines.rend() ? Duration{} : journal::time_of(*last);
}

/// More rounds than any cluster without faults needs.
constexpr int most_rounds_of_peace = 64;

// Peace lasts until the bound of Assertion 2 has passed since the last disturbance. Work that is
// under way when the faults end may still cause a disturbance, and so does the return of a node
// that stood back.
void rest(World& world) {
  const Duration bound = settling_bound(world.config(NodeId{1}));
  for (int round = 0; round < most_rounds_of_peace; ++round) {
    const Duration until = last_disturbance(world.lines()) + bound + bound / 8;
    if (until <= world.now()) return;
    // If hooks fail by themselves, the cluster may never reach peace. The verdict on such a seed is
    // already known: its application is at fault.
    if (round > 0 && !world.application_failures().empty()) return;
    world.run_for(until - world.now());
  }
}

void add_violation(verify::Outcome& outcome, const std::string& why, const World& world) {
  verify::Violated violated{"durable", 1, 1, world.now(), {{}, why}, {"journal", 0}, {}};
  violated.place.line = world.lines().size();
  for (verify::Verdict& verdict : outcome.verdicts)
    if (const auto* holds = std::get_if<verify::Holds>(&verdict);
        holds && holds->assertion == "durable")
      verdict = violated;
}

std::vector<std::string> asked_of(const Simulation& simulation) {
  Config config;
  config.protocol = simulation.protocol;
  config.repairs = simulation.repairs;
  config.options = simulation.options;
  std::vector<std::string> asked = timed_claims_of(config);
  asked.insert(asked.end(), simulation.assertions.begin(), simulation.assertions.end());
  return asked;
}

}  // namespace

std::set<Trouble> Simulation::all() {
  std::set<Trouble> kinds;
  for (std::size_t kind = 0; kind < troubles; ++kind) kinds.insert(static_cast<Trouble>(kind));
  kinds.erase(Trouble::lasting_cut);
  kinds.erase(Trouble::refusal);
  return kinds;
}

bool happens_by_itself(Trouble trouble) {
  return trouble == Trouble::slow_hook || trouble == Trouble::failing_hook ||
         trouble == Trouble::overrunning_hook || trouble == Trouble::failing_stop ||
         trouble == Trouble::slow_commit || trouble == Trouble::clock_rate;
}

SeedRun run_seed(const Simulation& simulation, std::uint64_t seed) {
  simulated::Counted counted;
  simulated::Troubles drawn(simulation, seed, [&](NodeId node) { counted.forget(node); });
  WorldOptions options = drawn.options();
  options.stepped = simulation.stepped;
  const Trial trial = simulated::trial_of(simulation);
  options.make_application = trial.make_application;
  if (!options.make_application)
    options.make_application = simulated::make_counting(counted, options.timings.T);
  World world(options);
  drawn.befall(world);
  if (simulation.given.empty()) rest(world);

  SeedRun run;
  run.seed = seed;
  run.nodes = options.nodes;
  run.simulated = world.now();
  run.drained = world.drained();
  run.counts = drawn.counts();
  run.counts[static_cast<std::size_t>(Trouble::lying_tag)] = world.forged();
  simulated::ask(trial, world);
  verify::Unclaimed unclaimed;
  run.outcome = verify_lines(
      world.lines(), "journal", [&](const verify::NotClaimed& time) { unclaimed.add(time); },
      asked_of(simulation));
  run.unclaimed = unclaimed.times();
  if (trial.make_application) simulated::judge(trial, world, run.outcome);
  if (const auto lost = counted.lost()) add_violation(run.outcome, *lost, world);
  for (const journal::Line& line : world.lines())
    run.steps += std::holds_alternative<journal::Step>(line) ? 1 : 0;
  run.lines = world.take_lines();
  return run;
}

const verify::Violated* SeedRun::violated() const {
  for (const verify::Verdict& verdict : outcome.verdicts)
    if (const auto* violated = std::get_if<verify::Violated>(&verdict)) return violated;
  return nullptr;
}

// --- Campaigns

void Campaign::add(const SeedRun& run) {
  ++seeds;
  steps += run.steps;
  drained += run.drained;
  simulated += run.simulated;
  for (std::size_t i = 0; i < troubles; ++i) {
    counts[i] += run.counts[i];
    for (std::size_t j = 0; j < troubles; ++j)
      pairs[i][j] += run.counts[i] > 0 && run.counts[j] > 0 ? 1 : 0;
  }
  for (const verify::Verdict& verdict : run.outcome.verdicts) {
    if (const auto* holds = std::get_if<verify::Holds>(&verdict)) {
      judged[holds->assertion].checked += holds->checked;
    } else if (const auto* violated = std::get_if<verify::Violated>(&verdict)) {
      judged[violated->assertion].checked += violated->checked;
      ++judged[violated->assertion].violated;
      if (violated->assertion == "hooks")
        add(FailedHooks{violated->violations, run.seed, violated->disagreement.why});
    } else {
      ++judged[std::get<verify::NotClaimed>(verdict).assertion].not_checked;
    }
  }
  for (const auto& [assertion, times] : run.unclaimed) judged[assertion].unclaimed.add(times);
  if (run.violated()) violating.push_back(run.seed);
}

void Campaign::add(const Campaign& other) {
  seeds += other.seeds;
  steps += other.steps;
  drained += other.drained;
  simulated += other.simulated;
  for (std::size_t i = 0; i < troubles; ++i) {
    counts[i] += other.counts[i];
    for (std::size_t j = 0; j < troubles; ++j) pairs[i][j] += other.pairs[i][j];
  }
  for (const auto& [assertion, its] : other.judged) {
    judged[assertion].checked += its.checked;
    judged[assertion].violated += its.violated;
    judged[assertion].not_checked += its.not_checked;
    judged[assertion].unclaimed.add(its.unclaimed);
  }
  add(other.failed_hooks);
  violating.insert(violating.end(), other.violating.begin(), other.violating.end());
  std::sort(violating.begin(), violating.end());
}

void Campaign::add(const FailedHooks& more) {
  const bool is_first =
      more.count > 0 && (failed_hooks.count == 0 || more.seed < failed_hooks.seed);
  const std::uint64_t count = failed_hooks.count + more.count;
  if (is_first) failed_hooks = more;
  failed_hooks.count = count;
}

std::uint64_t Campaign::seeds_with(Trouble trouble) const {
  const auto kind = static_cast<std::size_t>(trouble);
  return pairs[kind][kind];
}

std::vector<Trouble> Campaign::missing(const Simulation& simulation) const {
  std::vector<Trouble> never;
  for (Trouble trouble : simulation.allowed)
    if (counts[static_cast<std::size_t>(trouble)] == 0) never.push_back(trouble);
  return never;
}

}  // namespace muster::lab
