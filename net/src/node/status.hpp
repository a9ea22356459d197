#pragma once

#include "../life.hpp"

#include <muster/net/status.hpp>

#include <optional>
#include <string>

namespace muster::net {

/// What a node says of itself: of its last life, null where there was none, and of what is beside
/// that: why it is out, why it reorganizes, and for how long its certificate holds.
NodeStatus status_of(const NodeOptions& options, const Life* last, std::optional<Out> out,
                     std::string because, std::optional<Duration> certificate);

}  // namespace muster::net
