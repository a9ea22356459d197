#pragma once

#include <muster/failure.hpp>

#include <iostream>

namespace muster::apps {

/// Says why the command ends with that exit code, in one line, and returns the code.
inline int failed(const Failure& failure, std::ostream& err = std::cerr) {
  const int code = static_cast<int>(failure.code);
  err << "muster: " << failure.what << " (exit code " << code << ")\n" << std::flush;
  return code;
}

}  // namespace muster::apps
