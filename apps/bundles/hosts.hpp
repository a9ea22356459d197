#pragma once

#include <muster/values/address.hpp>
#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <map>
#include <string>

/// Where the nodes of a new cluster are, as `--nodes` says it.

namespace muster::apps {

/// "db1.example,10.0.0.2:7101,fd00::3": ids from 1 on, and `port` where none is named. Nodes at
/// loopback have a port each, counted from that one.
Expected<std::map<NodeId, Address>> addresses_of(const std::string& nodes, std::uint16_t port);

}  // namespace muster::apps
