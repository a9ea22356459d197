#pragma once

namespace CLI {
class App;
}

/// The commands of `muster-lab`, which `muster` runs as its own: each adds itself to the command
/// line, and leaves its exit code in `exit_code` if it was called.

namespace muster::apps {

void add_check_command(CLI::App& app, int& exit_code);
void add_draw_command(CLI::App& app, int& exit_code);
void add_election_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app, int& exit_code);
void add_simulate_command(CLI::App& app, int& exit_code);
void add_verify_command(CLI::App& app, int& exit_code);

}  // namespace muster::apps
