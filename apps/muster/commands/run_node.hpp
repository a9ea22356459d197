#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/application.hpp>

namespace muster::apps {

/// One line of the node's log, where that is wanted.
void say_in_log(const NodeConfig& config, LogLevel level, const std::string& sentence);

/// Runs one node until it is told to leave; returns the exit code, having said why where it is not
/// 0.
int run_node(const NodeConfig& config, bool initialise);
/// The same with that application in place of the configured one.
int run_node(const NodeConfig& config, bool initialise, const MakeApplication& application);

}  // namespace muster::apps
