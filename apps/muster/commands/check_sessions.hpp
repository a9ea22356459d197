#pragma once

#include <muster/lab/session_checker.hpp>

namespace CLI {
class App;
}

namespace muster::apps {

/// `muster check --sessions`: every interleaving of the sessions that ship.
struct CheckSessionsOptions {
  bool wanted = false;
  lab::SessionBounds bounds;
};

void add_check_sessions(CLI::App& command, CheckSessionsOptions& options);

/// The exit code.
int check_sessions(const CheckSessionsOptions& options, bool json);

}  // namespace muster::apps
