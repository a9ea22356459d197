#include "apps/hosting/node_flags.hpp"
#include "apps/hosting/run_node.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/programs/child.hpp"
#include "apps/programs/program_application.hpp"

#include <muster/net/say.hpp>

#include <CLI/CLI.hpp>

#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace muster::apps {
namespace {

constexpr const char* manual = R"(
The program gets SIGTERM when the node is halted, and SIGKILL after 3/4 of stop_deadline, with all
of its process group. Its environment: MUSTER_NODE, MUSTER_GROUP (counter.coordinator, such as 17.5;
it only grows), MUSTER_COORDINATOR, MUSTER_MEMBERS ("1 2 5") and MUSTER_DEFINITION_FILE, which holds
{"coordinator":5,"members":[1,2,5]}.

When the program ends by itself:
  with 0         its work in this group is done; nothing runs until the next start
  with 75        it is started again, after 1 s, then 2 s, ... up to 1 min
  anything else  the node ends with 76 and says how the program ended

Exit codes: 0 left in order (SIGTERM, SIGINT), 2 usage or no such program, 64 bad configuration,
65 safe storage refused, 70 a defect, 74 an I/O error, 75 address or store in use, 76 the program
failed or could not be stopped.)";

struct RunOptions {
  NodeFlags node;
  Where where = Where::everywhere;
  bool inherit = false;
  std::vector<std::string> command;
};

Expected<> check_program(const std::string& program) {
  const auto file = find_program(program);
  if (::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) return {};
  return Failure{ExitCode::usage, "there is no program " + program +
                                      " that may be executed; give its path after --"};
}

int run(const RunOptions& options) {
  const auto config = options.node.load();
  if (!config) return failed_to_begin(config.error());
  if (config->hooks || config->application.kind != "none") {
    return failed_to_begin({ExitCode::bad_configuration,
                            options.node.config + " has " +
                                (config->hooks ? "[hooks]" : "an [application] of its own") +
                                ", but muster run starts the program of its command line: remove "
                                "that section, or use muster node"});
  }
  if (const auto found = check_program(options.command.front()); !found)
    return failed_to_begin(found.error());
  ProgramOptions program;
  program.command = options.command;
  program.where = options.where;
  program.inherit = options.inherit;
  program.directory = config->data;
  program.stop_deadline = config->cluster.timings.stop_deadline;
  program.give_up = [] { ::kill(::getpid(), SIGUSR1); };
  program.say = [&config](const std::string& sentence) {
    say_in_log(*config, LogLevel::info, sentence);
  };
  return run_node(*config, options.node.initialise, make_program(std::move(program)));
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Run one node, and a program while the node is Normal");
  options->node.add_config_to(*command);
  options->node.add_running_to(*command);
  command
      ->add_option_function<std::string>(
          "--where",
          [options](const std::string& place) {
            options->where = place == "coordinator" ? Where::coordinator : Where::everywhere;
          },
          "Run it on every member, or on the coordinator only")
      ->check(CLI::IsMember(std::vector<std::string>{"coordinator", "everywhere"}))
      ->option_text("everywhere|coordinator [everywhere]");
  command->add_flag(
      "--inherit", options->inherit,
      "Pass the whole environment to the program, not only PATH, HOME, LANG and similar variables");
  command
      ->add_option("PROGRAM", options->command,
                   "-- PROGRAM ARGS: the program to run, without a shell")
      ->required()
      ->option_text("[ARGS...]");
  command->footer(manual);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace muster::apps
