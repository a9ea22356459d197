#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/application.hpp>

#include <functional>

/// Runs a node as a process, with its signals, supervisor, log and exit code.

namespace muster::apps {

/// Writes a line to the node's log, if the configured level includes it.
void say_in_log(const NodeConfig& config, LogLevel level, const std::string& sentence);

/// Prepares the process. Call this before the process has a second thread or runs a program.
/// `run_node` calls it; only the first call has an effect.
void begin_alone(const NodeConfig& config);

/// Prints why no node can be run, and returns the exit code.
int failed_to_begin(const Failure& failure);

/// Runs one node until it is told to leave. Returns the exit code. If the code is not 0, the log
/// has the reason.
int run_node(const NodeConfig& config, bool initialise, const MakeApplication& application);
/// Runs one node in the same way, but makes the application with `prepare` once this process has
/// opened the node's safe storage. Before that, another process may be running the node and using
/// its files.
int run_node(const NodeConfig& config, bool initialise,
             const std::function<Expected<MakeApplication>()>& prepare);

/// Runs one node whose application is a program at the node's socket. The node takes no part before
/// the program has registered.
int run_socket_node(const NodeConfig& config, bool initialise);

}  // namespace muster::apps
