#pragma once

#include "apps/muster/config.hpp"

#include <muster/application.hpp>

namespace muster::apps {

/// Environment variables through which whoever runs nodes gives them open descriptors.
inline constexpr const char* record_pipe_variable = "MUSTER_RECORD_PIPE";  ///< where records go
inline constexpr const char* death_pipe_variable = "MUSTER_DEATH_PIPE";  ///< its end ends the node

/// Runs one node until it is told to leave; returns the exit code, having said why where it is not
/// 0.
int run_node(const NodeConfig& config, bool initialise);
/// The same with that application in place of the configured one.
int run_node(const NodeConfig& config, bool initialise, const MakeApplication& application);

}  // namespace muster::apps
