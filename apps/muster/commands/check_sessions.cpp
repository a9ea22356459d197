#include "apps/muster/commands/check_sessions.hpp"

#include "apps/base/failed.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <iostream>

namespace muster::apps {

void add_check_sessions(CLI::App& command, CheckSessionsOptions& options) {
  lab::SessionBounds& bounds = options.bounds;
  command.add_flag("--sessions", options.wanted,
                   "Instead: the sessions of two nodes, with the bounds that follow");
  command.add_option("--lives", bounds.lives, "Of each node")->check(CLI::Range(1, 3));
  command.add_option("--calls", bounds.calls, "That each life makes, at most")
      ->check(CLI::Range(0, 3));
  command.add_option("--resets", bounds.resets, "Connections that the network breaks, at most")
      ->check(CLI::Range(0, 3));
  command.add_option("--silences", bounds.silences, "Machines that stop without a word, at most")
      ->check(CLI::Range(0, 3));
  command.add_flag("--connected", bounds.connected,
                   "Both are up when it begins, and have a session");
  command.add_option("--links", bounds.links, "Connections at a time; a dial waits for room")
      ->check(CLI::Range(1, 4));
}

namespace {

void show(const lab::SessionReport& report, bool json) {
  const char* const claims = report.violated.empty() ? (report.ended ? "true" : "null") : "false";
  if (json) {
    std::cout << "{\"sessions\":{\"holds\":" << claims << ",\"states\":" << report.states
              << ",\"transitions\":" << report.transitions << ",\"depth\":" << report.depth
              << ",\"drained\":" << report.drained << "}}\n";
    return;
  }
  for (const std::string& line : report.story) std::cout << line << '\n';
  std::cout << (report.violated.empty() ? report.ended ? "all claims hold" : "nothing was violated"
                                        : report.violated)
            << ": " << report.states << " states, " << report.transitions << " transitions, depth "
            << report.depth << "; " << report.drained << " times a Drain had something to find"
            << (report.ended || !report.violated.empty() ? "" : "; not all was seen") << '\n';
}

}  // namespace

int check_sessions(const CheckSessionsOptions& options, bool json) {
  const bool tell = isatty(STDERR_FILENO) != 0 && !json;
  const auto report = lab::check_sessions(options.bounds, [&](const lab::SessionReport& now) {
    if (tell) std::cerr << "\rdepth " << now.depth << ": " << now.states << " states ";
  });
  if (tell) std::cerr << '\n';
  show(report, json);
  if (report.violated.empty()) return 0;
  return failed({ExitCode::does_not_hold, "sessions: " + report.violated});
}

}  // namespace muster::apps
