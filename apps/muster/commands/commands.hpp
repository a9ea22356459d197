#pragma once

namespace CLI {
class App;
}

/// The subcommands of `muster`: each adds itself to the command line, and leaves its exit code in
/// `exit_code` when it was the one that was called.

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
