#pragma once

#include <muster/values/failure.hpp>

#include <iostream>
#include <string_view>

namespace muster::apps {

/// What to do where a process may open nothing more.
inline constexpr const char* no_descriptors =
    "no descriptor is left for it: raise the limit (ulimit -n), or end what holds them, then try "
    "again";

/// Says why that command ends with that exit code, in one line, and returns the code.
inline int failed(const Failure& failure, std::ostream& err = std::cerr,
                  std::string_view command = "muster") {
  const int code = static_cast<int>(failure.code);
  err << command << ": " << failure.what << " (exit code " << code << ")\n" << std::flush;
  return code;
}

}  // namespace muster::apps
