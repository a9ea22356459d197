#include "apps/base/huge_pages.hpp"
#include "apps/base/verdict.hpp"
#include "bench/nodes/bench.hpp"

#include <muster/lab/checker.hpp>
#include <muster/values/json.hpp>

#include <iomanip>
#include <iostream>
#include <thread>

namespace muster::apps {
namespace {

struct CheckerRow {
  const char* world;
  lab::Bounds bounds;
};

std::vector<CheckerRow> rows(const CheckerOptions& options) {
  const unsigned all_cores = std::max(1u, std::thread::hardware_concurrency());
  lab::Bounds ships;
  ships.hooks = lab::Hooks::slow;
  ships.limit_states = options.limit_states;
  lab::Bounds normal = ships;
  normal.start = {NodeId{1}, NodeId{2}, NodeId{3}};
  normal.failures = 2;
  lab::Bounds every_core = normal;
  ships.threads = every_core.threads = all_cores;
  lab::Bounds three = every_core;
  three.failures = 3;
  ships.failures = 1;
  lab::Bounds literal;
  literal.limit_states = options.limit_states;
  literal.threads = all_cores;
  literal.nodes = 4;
  literal.failures = 3;
  literal.channels = lab::Channels::fifo;
  literal.repairs = Repairs::none();
  literal.struck = {Line::counter_test};
  return {{"as it ships, 3 nodes, Normal at first, 2 failures, slow hooks, one thread", normal},
          {"the same, every core", every_core},
          {"the same, 3 failures", three},
          {"as it ships, 3 nodes, down at first, 1 failure, slow hooks", ships},
          {"the paper's text, 4 nodes, down at first, 3 failures, prompt hooks", literal}};
}

void show(const CheckerRow& row, const lab::CheckReport& report, bool json) {
  const lab::Progress& found = report.progress;
  const auto states = static_cast<double>(found.states);
  const auto rate = static_cast<std::uint64_t>(states / std::max(found.seconds, 1e-9));
  const double bytes = static_cast<double>(found.memory) / states;
  const std::string holds = json_of_verdict(!report.violated, report.ended);
  std::string verdict = report.ended ? "holds" : "no violation as far as the limit";
  if (report.violated) verdict = "violated";
  if (json) {
    std::cout << "{\"world\":" << to_json(std::string(row.world))
              << ",\"threads\":" << row.bounds.threads << ",\"states\":" << found.states
              << ",\"seconds\":" << found.seconds << ",\"states_per_second\":" << rate
              << ",\"bytes_per_state\":" << bytes << ",\"ended\":" << to_json(report.ended)
              << ",\"holds\":" << holds << "}" << std::endl;
    return;
  }
  std::cout << "| " << row.world << " | " << row.bounds.threads << " | " << found.states << " | "
            << verdict << " | " << std::fixed << std::setprecision(1) << found.seconds << " | "
            << rate << " | " << found.memory / 1'000'000 << " | " << bytes << " |" << std::endl;
}

}  // namespace

int bench_checker(const CheckerOptions& options) {
  if (!options.json)
    std::cout << "| world | threads | states | verdict | s | states/s | MB | bytes a state |\n"
                 "|---|---|---|---|---|---|---|---|\n";
  const HugePages for_its_tables;
  bool violated = false;
  for (const CheckerRow& row : rows(options)) {
    const lab::CheckReport report = lab::check(row.bounds, [](const lab::Progress&) {});
    show(row, report, options.json);
    violated = violated || report.violated;
  }
  if (violated)
    return failed(
        {ExitCode::does_not_hold, "bench checker: an assertion is violated in a row above"});
  return 0;
}

}  // namespace muster::apps
