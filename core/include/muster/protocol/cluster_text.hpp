#pragma once

#include <muster/protocol/config.hpp>

#include <map>
#include <string>

/// The settings that must be the same on every node of a cluster, as text. Nodes compare the text
/// when they connect, and a node with a different text is refused.

namespace MUSTER_EXPORT muster {

/// Values by their keys, each in the form of a configuration file.
using ClusterLines = std::map<std::string, std::string>;

/// A duration with the largest unit that divides it, as in a configuration file: "150ms", "5min".
std::string format_duration(Duration duration);

/// Everything that `step` may know, except the id of its own node: timings, protocol, node ids,
/// switches and options. The text contains each of these even if it has its default value. Options
/// are the exception: the text contains only those that differ from their default.
ClusterLines cluster_lines(const ProtocolConfig& config);

/// Every option of the Bully algorithm (docs/explanation/options.md).
ClusterLines option_lines(const Options& options);

/// The options that are not the default.
ClusterLines chosen_options(const Options& options);

/// The canonical text: one `key=value` line for each key, sorted.
std::string cluster_text(const ClusterLines& lines);

}  // namespace muster
