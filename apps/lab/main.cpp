#include "apps/command_line/command_line.hpp"
#include "apps/lab/commands.hpp"

#include <CLI/CLI.hpp>

/// `muster-lab`: the commands that need no real node. `muster` executes this program for them.

namespace muster::apps {
namespace {

int run_lab(int argc, char** argv) {
  CLI::App app("The laboratory of Muster: search, simulate, verify and draw", "muster");
  app.set_version_flag("--version", "muster " MUSTER_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  int exit_code = 0;
  add_check_command(app, exit_code);
  add_verify_command(app, exit_code);
  add_replay_command(app, exit_code);
  add_draw_command(app, exit_code);
  add_simulate_command(app, exit_code);
  add_election_command(app, exit_code);
  return run_command(app, argc, argv, exit_code);
}

}  // namespace
}  // namespace muster::apps

int main(int argc, char** argv) {
  return muster::apps::run_program(muster::apps::run_lab, argc, argv);
}
