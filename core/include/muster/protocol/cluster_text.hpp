#pragma once

#include <muster/protocol/config.hpp>

#include <map>
#include <string>

/// What has to be the same on every node of a cluster, as text: nodes compare it when they connect,
/// and who differs is refused.

namespace MUSTER_EXPORT muster {

/// Values by their keys, each as it may stand in a configuration.
using ClusterLines = std::map<std::string, std::string>;

/// A duration with the largest unit that divides it, as a configuration has it: "150ms", "5min".
std::string format_duration(Duration duration);

/// What `step` may know, but for whose it is: timings, protocol, the nodes' ids, what is switched
/// off and chosen. Defaults are written out, options only where they are not as usual.
ClusterLines cluster_lines(const ProtocolConfig& config);

/// Each option of the Bully (docs/options.md).
ClusterLines option_lines(const Options& options);

/// Those that are not as usual.
ClusterLines chosen_options(const Options& options);

/// The canonical text: sorted `key=value` lines.
std::string cluster_text(const ClusterLines& lines);

}  // namespace muster
