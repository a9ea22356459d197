#pragma once

#include <muster/protocol/config.hpp>

#include <map>
#include <optional>
#include <string>

/// The checks of a node's configuration. The checks are the same for a configuration from a file,
/// from a program in C++ and from a program in C.

namespace MUSTER_EXPORT muster {

/// One value that is out of range or contradicts another value.
struct Misfit {
  std::string key;  ///< the value's name in Timings, Options, Repairs or a file, or a node's id
  std::string expected;  ///< what is allowed, such as "at least T = 100 ms"
};

/// The longest time that any setting of a node may have.
inline constexpr Duration longest_time = std::chrono::hours(24);
/// The most nodes that a cluster may have.
inline constexpr std::size_t most_nodes = 64;

/// The first value that does not fit; none if all fit.
std::optional<Misfit> misfit(const Timings& timings);
/// The first option that does not fit, by itself or together with others; none if all fit.
std::optional<Misfit> misfit(const Options& options);
/// The first value of a whole configuration that does not fit; none if all fit.
std::optional<Misfit> misfit(const ProtocolConfig& config);
/// The first value that does not fit in the state that a life begins with; none if all fit. The
/// numbers must leave room to count on.
std::optional<Misfit> misfit(const SafeState& safe);
/// The first address that does not fit, of those at which nodes listen ("host:port"); none if all
/// fit. Each of `nodes` must have an address of its own, on this machine unless `insecure` is true.
std::optional<Misfit> misfit(const std::map<NodeId, std::string>& addresses, const NodeSet& nodes,
                             bool insecure);

}  // namespace muster
