#include "apps/journals/verify.hpp"
#include "apps/muster/commands/assertion_option.hpp"
#include "apps/muster/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace muster::apps {

void add_verify_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command =
      app.add_subcommand("verify", "Merge journals and check the assertions and the hook grammar");
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
