#include <muster/lab/crash_everywhere.hpp>

#include <muster/values/text.hpp>

namespace muster::lab {

namespace {

/// Runs the scenario once. Returns one sentence about the first failure, or none.
std::optional<std::string> run_once(World& world, Duration restart_after, const Scenario& scenario,
                                    const Check& check) {
  scenario(world);
  world.fail_at(std::nullopt);
  world.run_for(restart_after);
  const bool is_normal = world.run_until_normal();
  if (const auto& failures = world.application_failures(); !failures.empty())
    return "node " + to_text(failures.front().node) + ": " + failures.front().why;
  if (!is_normal) return "the nodes that are up do not become Normal";
  for (const verify::Verdict& verdict : world.verify().verdicts)
    if (const auto* violated = std::get_if<verify::Violated>(&verdict))
      return "assertion " + violated->assertion + ": " + violated->disagreement.why;
  auto broken = check(world);
  if (broken) world.broken(*broken);
  return broken;
}

}  // namespace

CrashReport crash_everywhere(WorldOptions options, const Scenario& scenario, const Check& check) {
  if (!options.restart_after) options.restart_after = 3 * options.timings.T;
  const Duration restart_after = *options.restart_after;
  CrashReport report;
  const auto run = [&](std::optional<CrashPoint> point, World& world) {
    ++report.runs;
    // The failure point is reset after the scenario, so its text is kept here.
    std::string where;
    const Scenario watched = [&](World& there) {
      scenario(there);
      where = there.failed_at();
    };
    if (auto why = run_once(world, restart_after, watched, check))
      report.broken = Broken{point, where, *std::move(why), world.journal()};
  };

  World whole(options);
  run(std::nullopt, whole);
  for (NodeId node : whole.nodes()) {
    for (std::uint64_t point = 1; point <= whole.points(node) && !report.broken; ++point) {
      options.fail_at = CrashPoint{node, point};
      World world(options);
      run(options.fail_at, world);
    }
  }
  return report;
}

}  // namespace muster::lab
