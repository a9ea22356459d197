#pragma once

namespace CLI {
class App;
}

/// The subcommands of `muster`. Each function adds a command to the command line. If that command
/// is called, it puts its exit code into `exit_code`.

namespace muster::apps {

void add_cert_command(CLI::App& app, int& exit_code);
void add_completion_command(CLI::App& app, int& exit_code);
void add_config_command(CLI::App& app, int& exit_code);
void add_demo_command(CLI::App& app, int& exit_code);
void add_drain_command(CLI::App& app, int& exit_code);
void add_elect_command(CLI::App& app, int& exit_code);
void add_history_command(CLI::App& app, int& exit_code);
void add_init_command(CLI::App& app, int& exit_code);
void add_members_command(CLI::App& app, int& exit_code);
void add_top_command(CLI::App& app, int& exit_code);
void add_node_command(CLI::App& app, int& exit_code);
void add_reload_command(CLI::App& app, int& exit_code);
void add_run_command(CLI::App& app, int& exit_code);
void add_status_command(CLI::App& app, int& exit_code);
void add_step_down_command(CLI::App& app, int& exit_code);
void add_store_command(CLI::App& app, int& exit_code);
void add_wait_command(CLI::App& app, int& exit_code);
void add_why_command(CLI::App& app, int& exit_code);

}  // namespace muster::apps
