#pragma once

#include <muster/detail/values/export.hpp>

#include <string_view>

/// The output of a node for people, on standard output and standard error.

namespace MUSTER_EXPORT muster {
namespace net {

/// Writes one line of at most 4,095 bytes to that descriptor, and never waits. If a pipe is full
/// because no process reads it, or a terminal is stopped, the line is lost. The next line that gets
/// through says how many were lost. May be called from any thread.
void say(int descriptor, std::string_view line);

}  // namespace net
}  // namespace muster
