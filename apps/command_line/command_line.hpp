#pragma once

namespace CLI {
class App;
}

/// The command line of the programs `muster`, `muster-lab` and `muster-postgres`.

namespace muster::apps {

/// Parses the words, runs the command that they name and returns `exit_code`, which the command has
/// set. An unknown command or a wrong value is reported in one sentence, with exit code 2. The word
/// `--describe` prints the commands as JSON (`described`).
int run_command(CLI::App& app, int argc, char** argv, const int& exit_code);

/// The body of `main`: returns the result of `run`. An exception is reported in one sentence. The
/// exit code is 75 if this process cannot get a resource now, and 70 if the exception is a defect.
int run_program(int (*run)(int argc, char** argv), int argc, char** argv);

}  // namespace muster::apps
