#include <muster/lab/checker.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

/// Checks the protocol with one switch off, for each switch, or with two switches off, for each
/// pair. Each check begins with a group of Normal nodes. Prints a Markdown table for
/// docs/findings.md: `bench_switches [singles|pairs] [FAILURES] [prompt|slow] [SWITCH...]`. If
/// SWITCH is given, only these switches are tried. MUSTER_STATES limits the states of each row.
/// Real nodes refuse unsafe configurations. Exit code 1 if the checker finds no violation in a
/// configuration that real nodes refuse, or finds a violation in one that they accept.

using namespace muster;
using namespace muster::lab;

namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  Repairs repairs;
  for_each_field(repairs, [&](const char* name, bool) { all.emplace_back(name); });
  return all;
}

void turn_off(Repairs& repairs, const std::string& which) {
  for_each_field(repairs, [&](const char* name, bool& on) {
    if (name == which) on = false;
  });
}

bool look(const std::vector<std::string>& off, Bounds bounds) {
  for (const std::string& name : off) turn_off(bounds.repairs, name);
  const CheckReport report = check(bounds, [](const Progress&) {});
  std::cout << "| " << off.front() << (off.size() > 1 ? ", " + off.back() : "") << " | ";
  if (const auto& counter = report.counterexample)
    std::cout << "**" << counter->assertion << "**: " << counter->disagreement.why << ", "
              << counter->story.counted << " counted";
  else
    std::cout << (report.ended ? "holds" : "no violation as far as the limit");
  const bool expected = report.counterexample.has_value() != bounds.repairs.safe();
  std::cout << (expected ? "" : ", **unexpected**") << " | " << report.progress.states << " | "
            << report.cut << " | " << report.progress.seconds << " |" << std::endl;
  return expected;
}

}  // namespace

int main(int argc, char** argv) {
  const auto word = [&](int at, const char* otherwise) {
    return std::string(argc > at ? argv[at] : otherwise);
  };
  Bounds bounds;
  bounds.failures = static_cast<unsigned>(std::stoul(word(2, "2")));
  bounds.hooks = word(3, "slow") == "slow" ? Hooks::slow : Hooks::prompt;
  bounds.start = {NodeId{1}, NodeId{2}, NodeId{3}};
  bounds.threads = std::max(1u, std::thread::hardware_concurrency());
  if (const char* limit = std::getenv("MUSTER_STATES"))
    bounds.limit_states = std::strtoull(limit, nullptr, 10);
  std::cout << "| off | verdict | states | cut | s |\n|---|---|---|---|---|\n";
  auto all = names();
  for (int at = 4; at < argc; ++at)
    if (std::find(all.begin(), all.end(), argv[at]) == all.end()) {
      std::cerr << "switches: there is no switch called " << argv[at] << '\n';
      return 2;
    }
  if (argc > 4) all.assign(argv + 4, argv + argc);
  bool expected = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (word(1, "singles") == "singles") {
      expected = look({all[i]}, bounds) && expected;
      continue;
    }
    for (std::size_t j = i + 1; j < all.size(); ++j)
      expected = look({all[i], all[j]}, bounds) && expected;
  }
  return expected ? 0 : 1;
}
