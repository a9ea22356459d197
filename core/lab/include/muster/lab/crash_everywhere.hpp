#pragma once

#include <muster/lab/world.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

/// A user's scenario, run once for every point at which a node can fail.

namespace MUSTER_EXPORT muster {
namespace lab {

/// What a user does with a world.
using Scenario = std::function<void(World&)>;

/// What must be true at the end; in one sentence what is not.
using Check = std::function<std::optional<std::string>(World&)>;

/// The first run in which something did not hold.
struct Broken {
  std::optional<CrashPoint> point;  ///< none: it did not hold without any failure
  std::string where;                ///< what happened at that point
  std::string why;                  ///< what the check said, or which assertion was violated
  std::string journal;              ///< of that run: JSON Lines
};

struct CrashReport {
  std::uint64_t runs{};
  std::optional<Broken> broken;
};

/// Runs the scenario without a failure, and then once for each point of each node: after each
/// action of its protocol, and before and after each commit to its storage, of the protocol's state
/// and of the application's cells. The node fails there, as by kill -9, and begins a new life after
/// `options.restart_after` (by default 3 T). When the scenario has ended, and all is Normal again,
/// `check` is asked. Ends with the first run in which it finds something, the application says that
/// something is broken, a hook fails by itself, an assertion is violated, or the nodes do not come
/// to be Normal.
CrashReport crash_everywhere(WorldOptions options, const Scenario& scenario, const Check& check);

}  // namespace lab
}  // namespace muster
