#pragma once

#include <muster/protocol/config.hpp>

#include <map>
#include <optional>
#include <string>

/// What a node may not begin with, whoever configures it: a file, a program in C++ or in C.

namespace MUSTER_EXPORT muster {

/// One value that does not fit the others, or nothing that there is.
struct Misfit {
  std::string key;       ///< its name, as in Timings, Options, Repairs or a file; a node's id
  std::string expected;  ///< what it has to be, such as "at least T = 100 ms"
};

/// The longest time that a node may be told to wait for anything.
inline constexpr Duration longest_time = std::chrono::hours(24);
/// The most nodes of a cluster.
inline constexpr std::size_t most_nodes = 64;

/// The first that does not fit; none where all do.
std::optional<Misfit> misfit(const Timings& timings);
/// The same of options that were not checked together.
std::optional<Misfit> misfit(const Options& options);
/// The same of all that `step` may know.
std::optional<Misfit> misfit(const ProtocolConfig& config);
/// The same of what a life begins with: numbers that leave room for those to come.
std::optional<Misfit> misfit(const SafeState& safe);
/// The same of where nodes listen, "host:port": each of `nodes` has an address of its own, of this
/// machine unless `insecure`.
std::optional<Misfit> misfit(const std::map<NodeId, std::string>& addresses, const NodeSet& nodes,
                             bool insecure);

}  // namespace muster
