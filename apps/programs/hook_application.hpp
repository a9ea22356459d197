#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/application.hpp>

#include <filesystem>

/// An application whose hooks are programs: JSON on standard input, what they give on standard
/// output (docs/programs.md).

namespace muster::apps {

struct HookOptions {
  HooksConfig commands;
  std::filesystem::path data;            ///< where definition and reports are written: the node's
  Timings timings;                       ///< of the cluster
  std::size_t output_limit = 32 * 1024;  ///< bytes of a report and of a definition
};

/// Makes the application of one life.
MakeApplication make_hooks(HookOptions options);

}  // namespace muster::apps
