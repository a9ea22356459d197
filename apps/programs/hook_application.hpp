#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/application.hpp>

#include <filesystem>

/// An application whose hooks are programs. They read JSON from standard input and write their
/// result to standard output (docs/how-to/programs.md).

namespace muster::apps {

struct HookOptions {
  HooksConfig commands;
  std::filesystem::path data;            ///< for definition and reports: the node's data
  Timings timings;                       ///< of the cluster
  std::size_t output_limit = 32 * 1024;  ///< most bytes of a report, and of a definition
};

/// Makes the application of one life.
MakeApplication make_hooks(HookOptions options);

}  // namespace muster::apps
