#pragma once

#include "apps/muster/config/config.hpp"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace muster::apps {

/// The options of a command that runs a node.
struct NodeFlags {
  std::string config;
  bool initialise = false;
  std::optional<LogFormat> log;

  /// Adds --config.
  void add_config_to(CLI::App& command);
  /// Adds --initialise and --log.
  void add_running_to(CLI::App& command);
  /// The configuration, as these options change it. Fails if it cannot be read, or if root may not
  /// obey it.
  [[nodiscard]] Expected<NodeConfig> load() const;
};

}  // namespace muster::apps
