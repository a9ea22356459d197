#pragma once

#include <muster/lab/session_checker.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace muster::apps {

/// `muster check --sessions`: tries every interleaving of the sessions that nodes run.
struct CheckSessionsOptions {
  bool wanted = false;
  lab::SessionBounds bounds;
  std::optional<unsigned> lives;
  std::optional<unsigned> resets;
  bool accept_limit = false;
};

void add_check_sessions(CLI::App& command, CheckSessionsOptions& options);

/// Runs the search and prints its report. Returns the exit code.
int check_sessions(CheckSessionsOptions& options, const std::vector<std::string>& strikes,
                   bool json);

/// One sentence that says what the line does.
const char* meaning(host::SessionLine line);

}  // namespace muster::apps
