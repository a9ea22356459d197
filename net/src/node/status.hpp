#pragma once

#include "node/life.hpp"

#include <muster/net/status.hpp>

#include <optional>
#include <string>

namespace muster::net {

/// The status of a node. `last` is its last life; null: there was none. The others say why the node
/// is out, why it reorganizes, and how long its certificate holds.
NodeStatus status_of(const NodeOptions& options, const Life* last, std::optional<Out> out,
                     std::string because, std::optional<Duration> certificate);

}  // namespace muster::net
