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
                   "Journals of nodes, and of whoever made them fail; segments are found")
      ->required();
  add_assertions(*command, options->assertions,
                 "Judge this one too, though their protocol may not claim it; repeatable");
  command->add_flag("--json", options->json, "One JSON object a line for each verdict");
  command->callback([options, &exit_code] { exit_code = verify(*options, std::cout, std::cerr); });
}

}  // namespace muster::apps
