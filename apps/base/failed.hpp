#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/one_line.hpp>

#include <iostream>
#include <string_view>

namespace muster::apps {

/// What to do where a process may open nothing more.
inline constexpr const char* no_descriptors =
    "no descriptor is left for it: raise the limit (ulimit -n), or end what holds them, then try "
    "again";

/// Says why that command ends with that exit code, in one line, and returns the code. What it
/// quotes from a file or a peer has no power over the terminal: control characters are shown as
/// '?'.
inline int failed(const Failure& failure, std::ostream& err = std::cerr,
                  std::string_view command = "muster") {
  const int code = static_cast<int>(failure.code);
  err << command << ": " << one_line(failure.what, failure.what.size()) << " (exit code " << code
      << ")\n"
      << std::flush;
  return code;
}

}  // namespace muster::apps
