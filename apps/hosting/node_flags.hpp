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
  /// Loads the configuration and applies these options to it. Fails if the file cannot be read, or
  /// if this process is root and another user can change the file.
  [[nodiscard]] Expected<NodeConfig> load() const;
};

}  // namespace muster::apps
