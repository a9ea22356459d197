#pragma once

#include "node/life.hpp"

#include <muster/net/status.hpp>

#include <optional>
#include <string>

namespace muster::net {

/// The status of a node. `last` is the node's last life, or null if there was none. The other
/// arguments are the reason why the node is out, the cause of the present reorganization, and the
/// time until its certificate expires.
NodeStatus status_of(const NodeOptions& options, const Life* last, std::optional<Out> out,
                     std::string because, std::optional<Duration> certificate);

}  // namespace muster::net
