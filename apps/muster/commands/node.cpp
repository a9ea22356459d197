#include "apps/hosting/node_flags.hpp"
#include "apps/hosting/run_node.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/commands/configured_node.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace muster::apps {

void add_node_command(CLI::App& app, int& exit_code) {
  const auto flags = std::make_shared<NodeFlags>();
  CLI::App* command = app.add_subcommand("node", "Run one node in the foreground");
  flags->add_config_to(*command);
  flags->add_running_to(*command);
  command->footer(
      "With kind = \"socket\" under [application] the node starts once its program has "
      "registered\nat application.sock in its data directory (docs/reference/socket.md).");
  command->callback([flags, &exit_code] {
    const auto config = flags->load();
    exit_code =
        config ? run_configured_node(*config, flags->initialise) : failed_to_begin(config.error());
  });
}

}  // namespace muster::apps
