#pragma once

namespace CLI {
class App;
}

/// The commands of `muster-lab`, which `muster` runs as its own. Each function adds a command to
/// the command line. If that command is called, it puts its exit code into `exit_code`.

namespace muster::apps {

void add_check_command(CLI::App& app, int& exit_code);
void add_draw_command(CLI::App& app, int& exit_code);
void add_election_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app, int& exit_code);
void add_simulate_command(CLI::App& app, int& exit_code);
void add_verify_command(CLI::App& app, int& exit_code);

}  // namespace muster::apps
