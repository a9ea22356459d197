#pragma once

#include <muster/values/describe.hpp>

/// The levels and formats of a node's log.

namespace MUSTER_EXPORT muster {

/// How important a line of a log is.
enum class LogLevel {
  error,    ///< the node ends
  warning,  ///< an operator should look into the event
  info,     ///< what the node does
};
MUSTER_DESCRIBE_ENUM(LogLevel, error, warning, info)

/// How the lines of a log are written.
enum class LogFormat { text, json };
MUSTER_DESCRIBE_ENUM(LogFormat, text, json)

}  // namespace muster
