#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/application.hpp>

#include <functional>

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

/// One line of the node's log, where that is wanted.
void say_in_log(const NodeConfig& config, LogLevel level, const std::string& sentence);

/// What has to be before there is another thread or program. `run_node` does it where it was not
/// done.
void begin_alone(const NodeConfig& config);

/// Says why no node is run, and gives the exit code.
int failed_to_begin(const Failure& failure);

/// Runs one node until it is told to leave; returns the exit code, having said why where it is not
/// 0.
int run_node(const NodeConfig& config, bool initialise);
/// The same with that application in place of the configured one.
int run_node(const NodeConfig& config, bool initialise, const MakeApplication& application);
/// The same with what is prepared when this process has the node's safe storage: before that
/// another may be at work with all that is the node's.
int run_node(const NodeConfig& config, bool initialise,
             const std::function<Expected<MakeApplication>()>& prepare);

}  // namespace muster::apps
