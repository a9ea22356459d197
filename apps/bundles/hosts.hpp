#pragma once

#include <muster/values/address.hpp>
#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <map>
#include <string>

/// The addresses of the nodes of a new cluster, from the flag `--nodes`.

namespace muster::apps {

/// Reads "db1.example,10.0.0.2:7101,fd00::3". The ids count from 1. A node without a port gets
/// `port`. Loopback nodes get a port each, counted up from `port`.
Expected<std::map<NodeId, Address>> addresses_of(const std::string& nodes, std::uint16_t port);

}  // namespace muster::apps
