#pragma once

#include "apps/base/text.hpp"

#include <cstdlib>

namespace muster::apps {

/// Environment variables by which a program that runs nodes gives them open descriptors.
inline constexpr const char* record_pipe_variable = "MUSTER_RECORD_PIPE";  ///< for records
inline constexpr const char* death_pipe_variable =
    "MUSTER_DEATH_PIPE";  ///< when this pipe closes, the node ends

/// The number of the descriptor that the environment variable contains; -1 if it contains none.
inline int descriptor_in(const char* variable) {
  const char* text = std::getenv(variable);
  const auto number = text == nullptr ? std::nullopt : parse_number(text);
  return number && *number < 1'000'000 ? static_cast<int>(*number) : -1;
}

}  // namespace muster::apps
