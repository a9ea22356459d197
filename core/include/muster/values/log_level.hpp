#pragma once

#include <muster/values/describe.hpp>

/// The lines that a node's log has, and their form.

namespace MUSTER_EXPORT muster {

/// How much a line of a log matters.
enum class LogLevel {
  error,    ///< the node ends
  warning,  ///< somebody should look after it
  info,     ///< what the node does
};
MUSTER_DESCRIBE_ENUM(LogLevel, error, warning, info)

/// How the lines of a log are written.
enum class LogFormat { text, json };
MUSTER_DESCRIBE_ENUM(LogFormat, text, json)

}  // namespace muster
