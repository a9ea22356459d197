#pragma once

namespace muster::apps {

/// Environment variables through which whoever runs nodes gives them open descriptors.
inline constexpr const char* record_pipe_variable = "MUSTER_RECORD_PIPE";  ///< where records go
inline constexpr const char* death_pipe_variable = "MUSTER_DEATH_PIPE";  ///< its end ends the node

}  // namespace muster::apps
