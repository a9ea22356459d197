#pragma once

namespace CLI {
class App;
}

/// How the programs `muster`, `muster-lab` and `muster-postgres` read their words and end.

namespace muster::apps {

/// Reads the words and runs the command that they name. Returns `exit_code`, where each command
/// leaves its own. A word that names no command, or a value that does not fit, is told in one
/// sentence with exit code 2. The word `--describe` prints the commands as JSON (`described`).
int run_command(CLI::App& app, int argc, char** argv, const int& exit_code);

/// The body of `main`: what `run` returns. An exception is told in one sentence, with exit code 75
/// if this process cannot get a resource now, and 70 if it is a defect.
int run_program(int (*run)(int argc, char** argv), int argc, char** argv);

}  // namespace muster::apps
