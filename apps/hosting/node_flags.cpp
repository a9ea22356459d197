#include "apps/hosting/node_flags.hpp"

#include "apps/base/roots_path.hpp"

#include <muster/detail/values/kinds.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <vector>

namespace muster::apps {

void NodeFlags::add_config_to(CLI::App& command) {
  command.add_option("--config", config, "The node's configuration (TOML)")->required();
}

void NodeFlags::add_running_to(CLI::App& command) {
  command.add_flag("--initialise", initialise,
                   "Accept a store that is older than what peers have seen, and go on with a "
                   "higher incarnation");
  command
      .add_option_function<std::string>(
          "--log", [this](const std::string& name) { log = enumerator_named<LogFormat>(name); },
          "Format of the lines on standard error: text or json (default: [log] format)")
      ->check(CLI::IsMember(std::vector<std::string>{"text", "json"}));
}

Expected<NodeConfig> NodeFlags::load() const {
  if (::geteuid() == 0)
    if (const auto may = may_obey(config); !may) return may.error();
  auto loaded = load_config(config, Look::at_files);
  if (loaded && log) {
    loaded->log.format = *log;
    loaded->log.format_was_told = true;
  }
  return loaded;
}

}  // namespace muster::apps
