#pragma once

#include "apps/muster/config/config.hpp"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace muster::apps {

/// What the command line says of a node that is to be run.
struct NodeFlags {
  std::string config;
  bool initialise = false;
  std::optional<LogFormat> log;

  /// Offers the configuration alone.
  void add_config_to(CLI::App& command);
  /// Offers what else a node is told that runs.
  void add_running_to(CLI::App& command);
  /// The configuration, with what they change in it.
  [[nodiscard]] Expected<NodeConfig> load() const;
};

}  // namespace muster::apps
