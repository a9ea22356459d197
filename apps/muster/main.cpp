#include "apps/command_line/command_line.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/commands/parts.hpp"

#include <CLI/CLI.hpp>

namespace muster::apps {
namespace {

int run(int argc, char** argv) {
  if (const Part* part = argc > 1 ? part_of(argv[1]) : nullptr) return become(*part, argv);
  CLI::App app("Elections and reorganization in fail-stop systems", "muster");
  app.set_version_flag("--version", "muster " MUSTER_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  int exit_code = 0;
  add_demo_command(app, exit_code);
  add_node_command(app, exit_code);
  add_run_command(app, exit_code);
  add_status_command(app, exit_code);
  add_members_command(app, exit_code);
  add_top_command(app, exit_code);
  add_wait_command(app, exit_code);
  add_why_command(app, exit_code);
  add_history_command(app, exit_code);
  add_step_down_command(app, exit_code);
  add_drain_command(app, exit_code);
  add_elect_command(app, exit_code);
  add_reload_command(app, exit_code);
  add_config_command(app, exit_code);
  add_store_command(app, exit_code);
  add_init_command(app, exit_code);
  add_cert_command(app, exit_code);
  add_completion_command(app, exit_code);
  add_parts(app);
  return run_command(app, argc, argv, exit_code);
}

}  // namespace
}  // namespace muster::apps

int main(int argc, char** argv) {
  return muster::apps::run_program(muster::apps::run, argc, argv);
}
