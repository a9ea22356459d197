#pragma once

#include "apps/muster/config/config.hpp"

namespace muster::apps {

/// Runs the node, with the application that its configuration names, until it is told to leave.
/// Returns the exit code.
int run_configured_node(const NodeConfig& config, bool initialise);

}  // namespace muster::apps
