#pragma once

#include "apps/base/text.hpp"

#include <cstdlib>

namespace muster::apps {

/// Environment variables through which whoever runs nodes gives them open descriptors.
inline constexpr const char* record_pipe_variable = "MUSTER_RECORD_PIPE";  ///< where records go
inline constexpr const char* death_pipe_variable = "MUSTER_DEATH_PIPE";  ///< its end ends the node

/// The descriptor in that environment variable; -1 if there is none.
inline int descriptor_in(const char* variable) {
  const char* text = std::getenv(variable);
  const auto number = text == nullptr ? std::nullopt : parse_number(text);
  return number && *number < 1'000'000 ? static_cast<int>(*number) : -1;
}

}  // namespace muster::apps
