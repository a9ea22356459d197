#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/one_line.hpp>

#include <iostream>
#include <string_view>

namespace muster::apps {

/// The advice for a process that cannot open another descriptor.
inline constexpr const char* no_descriptors =
    "no file descriptor is left: raise the limit (ulimit -n) or end processes that hold many, then "
    "try again";

/// Prints in one line why the command ends with this exit code, and returns the code. Control
/// characters are shown as '?', so text that is quoted from a file or a peer cannot control the
/// terminal.
inline int failed(const Failure& failure, std::ostream& err = std::cerr,
                  std::string_view command = "muster") {
  const int code = static_cast<int>(failure.code);
  err << command << ": " << one_line(failure.what, failure.what.size()) << " (exit code " << code
      << ")\n"
      << std::flush;
  return code;
}

}  // namespace muster::apps
