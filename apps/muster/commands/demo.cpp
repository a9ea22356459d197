#include "apps/demo/demo.hpp"

#include "apps/base/text.hpp"
#include "apps/command_line/protocol_option.hpp"
#include "apps/muster/commands/commands.hpp"

#include <CLI/CLI.hpp>

namespace muster::apps {
namespace {

/// Adds an option whose value is a duration, such as 20s.
void add_duration(CLI::App& command, const std::string& name, std::optional<Duration>& to,
                  const std::string& help) {
  command.add_option_function<std::string>(
      name,
      [name, &to](const std::string& text) {
        to = parse_duration(text);
        if (!to || *to <= Duration::zero()) {
          throw CLI::ValidationError(name + " " + text, "expected a duration such as 20s or 100ms");
        }
      },
      help);
}

}  // namespace

void add_demo_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo",
      "Run real nodes, make them fail (kill -9, SIGSTOP, restarts), and check every promise");
  command->add_option("--nodes", options->nodes, "How many nodes (1 to 64)")->capture_default_str();
  command->add_option("--dir", options->dir,
                      "Directory to run in: a new one, or that of an earlier demo");
  add_protocol(*command, options->protocol, healing_protocols);
  auto* script =
      command->add_option("--script", options->script, "File with the steps to play, one a line");
  add_duration(*command, "--random", options->random, "Play random steps for this long");
  command->add_option("--seed", options->seed, "Seed of the random steps")->capture_default_str();
  add_duration(*command, "--T", options->T, "The paper's T (100ms)");
  command
      ->add_option("--records", options->records_per_second,
                   "Records that each node writes a second")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object a line");
  command->get_option("--random")->excludes(script);
  command->callback([options, &exit_code] { exit_code = demo(*options); });
}

}  // namespace muster::apps
