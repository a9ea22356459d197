#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/application.hpp>

#include <functional>

/// A node as a process: its signals, its supervisor, its log, its exit code.

namespace muster::apps {

/// One line of the node's log, where that is wanted.
void say_in_log(const NodeConfig& config, LogLevel level, const std::string& sentence);

/// What has to be before there is another thread or program. `run_node` does it where it was not
/// done.
void begin_alone(const NodeConfig& config);

/// Says why no node is run, and gives the exit code.
int failed_to_begin(const Failure& failure);

/// Runs one node until it is told to leave. Returns the exit code; if that is not 0, the log has
/// said why.
int run_node(const NodeConfig& config, bool initialise, const MakeApplication& application);
/// The same with what is prepared when this process has the node's safe storage: before that
/// another may be at work with all that is the node's.
int run_node(const NodeConfig& config, bool initialise,
             const std::function<Expected<MakeApplication>()>& prepare);

/// The same with a program at the node's socket as its application. The node takes no part before
/// the program is there.
int run_socket_node(const NodeConfig& config, bool initialise);

}  // namespace muster::apps
