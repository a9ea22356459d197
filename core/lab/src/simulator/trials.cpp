#include "trials.hpp"

#include <muster/host/user_call.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <stdexcept>

namespace muster::lab::simulated {

namespace {

bool is_on_application(const verify::Verdict& verdict) {
  return std::visit([](const auto& kind) { return kind.assertion == "application"; }, verdict);
}

std::uint64_t hooks_called(const World& world) {
  return static_cast<std::uint64_t>(
      std::count_if(world.lines().begin(), world.lines().end(), [](const journal::Line& line) {
        const auto* hook = std::get_if<journal::HookEdge>(&line);
        return hook && hook->edge == journal::Edge::begin;
      }));
}

verify::Verdict on_hooks(const World& world) {
  const auto& failures = world.application_failures();
  const std::uint64_t called = hooks_called(world);
  if (failures.empty()) return verify::Holds{"hooks", called, {}};
  const ApplicationFailure& first = failures.front();
  verify::Violated violated{"hooks", called, failures.size(), first.t, {}, {"journal", 0}, {}};
  violated.disagreement = {{first.node}, "node " + to_text(first.node) + ": " + first.why};
  violated.place.line = first.line + 1;
  return violated;
}

}  // namespace

Trial trial_of(const Simulation& simulation) {
  if (!simulation.make_trial) return {simulation.make_application};
  Trial trial;
  const auto thrown = thrown_by([&] { trial = simulation.make_trial(); });
  if (!thrown && trial.make_application) return trial;
  const std::string why =
      thrown ? "making the trial threw" + *thrown : "the trial has no make_application";
  return {[why](Services&) -> std::unique_ptr<Application> { throw std::runtime_error(why); }};
}

void ask(const Trial& trial, World& world) {
  if (!trial.check) return;
  std::optional<std::string> broken;
  const auto thrown = thrown_by([&] { broken = trial.check(world); });
  if (thrown) broken = "the check threw" + *thrown;
  if (broken) world.broken(*std::move(broken));
}

void judge(const Trial& trial, const World& world, verify::Outcome& outcome) {
  auto& verdicts = outcome.verdicts;
  const bool is_judged = std::any_of(verdicts.begin(), verdicts.end(), is_on_application);
  if (!is_judged && trial.check)
    verdicts.emplace_back(verify::Holds{"application", 1, {}});
  else if (!is_judged)
    verdicts.emplace_back(
        verify::NotClaimed{"application",
                           {},
                           world.now(),
                           "the trial has no check, and the application reports nothing broken",
                           {}});
  verdicts.emplace_back(on_hooks(world));
  std::stable_partition(verdicts.begin(), verdicts.end(), [](const verify::Verdict& verdict) {
    return is_on_application(verdict) ||
           std::visit([](const auto& kind) { return kind.assertion == "hooks"; }, verdict);
  });
}

}  // namespace muster::lab::simulated
