#pragma once

#include <muster/detail/values/export.hpp>

#include <string_view>

/// What a node says to people, on standard output and standard error.

namespace MUSTER_EXPORT muster {
namespace net {

/// Writes one line, of which 4,095 bytes at most, to that descriptor, and never waits: where nobody
/// reads a pipe that is full, or a terminal is stopped, the line is lost. The next one that is not
/// says how many were. From any thread.
void say(int descriptor, std::string_view line);

}  // namespace net
}  // namespace muster
