#pragma once

#include <muster/lab/session_checker.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace muster::apps {

/// `muster check --sessions`: every interleaving of the sessions that ship.
struct CheckSessionsOptions {
  bool wanted = false;
  lab::SessionBounds bounds;
  std::optional<unsigned> lives;
  std::optional<unsigned> resets;
  bool accept_limit = false;
};

void add_check_sessions(CLI::App& command, CheckSessionsOptions& options);

/// The exit code.
int check_sessions(CheckSessionsOptions& options, const std::vector<std::string>& strikes,
                   bool json);

/// One sentence: what the line says.
const char* meaning(host::SessionLine line);

}  // namespace muster::apps
