#pragma once

#include <muster/lab/world.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

/// Runs a scenario of an application once for every point at which a node can fail.

namespace MUSTER_EXPORT muster {
namespace lab {

/// The scenario: the actions on a world. The function is called once for each run, with a new
/// world.
using Scenario = std::function<void(World&)>;

/// The check of the last state. Returns none if everything holds, and otherwise one sentence about
/// the first failure.
using Check = std::function<std::optional<std::string>(World&)>;

/// The first run in which something did not hold.
struct Broken {
  std::optional<CrashPoint> point;  ///< none: the run without a failure was already wrong
  std::string where;                ///< the event or action at that point
  std::string why;      ///< the statement of the check, or the assertion that was violated
  std::string journal;  ///< the journal of that run, as JSON Lines
};

/// The result of crash_everywhere().
struct CrashReport {
  std::uint64_t runs{};
  std::optional<Broken> broken;
};

/// Runs the scenario once without a failure, and then once for each point of each node. The points
/// of a node are: after each action of its protocol, and before and after each commit to its
/// storage. A commit contains the protocol's state or the application's cells. At the point of the
/// run, the node fails as by kill -9. The node begins a new life after `options.restart_after`
/// (default: 3 T).
///
/// When the scenario has ended, and all nodes are Normal again, `check` is called. The function
/// returns after the first run in which something does not hold:
/// - `check` returns a sentence;
/// - the application reports that one of its invariants is broken;
/// - a hook fails by itself;
/// - an assertion is violated;
/// - the nodes do not become Normal.
///
/// @par Thread safety
/// Everything runs on the calling thread, one run after the other. Distinct calls may run on
/// distinct threads if the callbacks share nothing.
/// @par Errors
/// Exceptions of `scenario` and `check` propagate. A broken invariant causes no exception: the
/// function reports it.
/// @par Example
///     lab::WorldOptions options;
///     options.nodes = 3;
///     options.make_application = make_application;
///     const auto scenario = [](lab::World& world) {
///       world.run_until_normal();
///       world.fail(NodeId{3});
///       world.run_until_normal();
///     };
///     const lab::CrashReport report = lab::crash_everywhere(options, scenario, check);
///     if (report.broken) std::cerr << report.broken->where << ": " << report.broken->why << '\n';
CrashReport crash_everywhere(WorldOptions options, const Scenario& scenario, const Check& check);

}  // namespace lab
}  // namespace muster
