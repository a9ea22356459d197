#include "apps/journals/verify.hpp"
#include "apps/command_line/part_commands.hpp"
#include "apps/lab/assertion_option.hpp"
#include "apps/lab/commands.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace muster::apps {

void add_verify_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(part_commands::verify.name, part_commands::verify.what);
  command
      ->add_option("journals", options->journals,
                   "Journals of nodes, and journals of faults; segments are found")
      ->required();
  add_assertions(*command, options->assertions,
                 "Check this assertion too, even if their protocol does not claim it; repeatable");
  command->add_flag("--json", options->json, "Print a JSON object for each verdict, one a line");
  command->callback([options, &exit_code] { exit_code = verify(*options, std::cout, std::cerr); });
}

}  // namespace muster::apps
