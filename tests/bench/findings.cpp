#include "core/lab/findings.hpp"

#include <muster/lab/checker.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

/// Runs the rows of the table of findings, or only those that the command line names. Prints the
/// Markdown table of docs/findings.md. MUSTER_STATES limits the states of each row.

using namespace muster::lab;

namespace {

std::string verdict(const CheckReport& report) {
  std::string text;
  if (const auto& counter = report.counterexample)
    text = counter->assertion + " **violated**, " + std::to_string(counter->story.lines.size()) +
           " steps, " + std::to_string(counter->story.counted) +
           " counted: " + counter->disagreement.why;
  else
    text = report.ended ? "holds" : "no violation as far as the limit";
  if (report.wedged)
    text += report.wedged->worlds == 0
                ? report.avoids && report.avoids->story ? "; 2 reachable, **avoided** by a fair way"
                                                        : "; 2 reachable"
                : "; **wedged** in " + std::to_string(report.wedged->worlds) + " worlds";
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::cout
      << "| row | world | command | verdict | states | cut | s |\n|---|---|---|---|---|---|---|\n";
  const char* limit = std::getenv("MUSTER_STATES");
  int looked_at = 0;
  for (findings::Row& row : findings::rows()) {
    const bool named = std::any_of(argv + 1, argv + argc,
                                   [&](const char* id) { return std::string(id) == row.id; });
    if (argc > 1 && !named) continue;
    ++looked_at;
    row.bounds.threads = std::max(1u, std::thread::hardware_concurrency());
    if (limit) row.bounds.limit_states = std::strtoull(limit, nullptr, 10);
    const CheckReport report = check(row.bounds, [&](const Progress& now) {
      std::cerr << '\r' << row.id << ": depth " << now.depth << ", " << now.states << " states, "
                << now.memory / 1000000 << " MB ";
    });
    std::cerr << '\n';
    std::cout << "| " << row.id << " | " << row.what << " | `" << findings::command_of(row.bounds)
              << "` | " << verdict(report) << " | " << report.progress.states << " | " << report.cut
              << " | " << report.progress.seconds << " |" << std::endl;
  }
  if (argc == 1 || looked_at >= argc - 1) return 0;
  std::cerr << "bench_findings: there is no row of that name; without names all rows are made\n";
  return 2;
}
