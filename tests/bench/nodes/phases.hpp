#pragma once

#include <muster/journal/journal.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// The parts of a fail-over, read from the survivors' journals.

namespace muster::apps {

/// The parts of one fail-over, in their order. Each part begins where the one before ends, so their
/// sum is the whole fail-over.
enum class Phase {
  noticed,   ///< from the fault to the first event that told the new coordinator of the fault
  election,  ///< until the new coordinator sends its first Halt: Timeout(i), phase A
  halts,     ///< until it has the answer to its last Halt
  own_stop,  ///< until its own `stop` has ended, if that takes longer
  new_coordinator,  ///< until it has the last answer to NewCoordinator
  reorganize,       ///< until its hook `reorganize` ends
  ready,            ///< until the last member accepts Ready
  commits,          ///< until the last survivor's `start` begins: all definitions are durable
  start,            ///< until the last survivor's `start` ends
};
MUSTER_DESCRIBE_ENUM(Phase, noticed, election, halts, own_stop, new_coordinator, reorganize, ready,
                     commits, start)
inline constexpr std::size_t phase_count = 9;

struct Failover {
  NodeId coordinator;  ///< the new coordinator
  std::size_t members = 0;
  Duration whole{};  ///< from the fault until the last survivor's application has started
  std::array<Duration, phase_count> phases{};
  std::uint64_t letters = 0;  ///< the number of letters between the survivors during the fail-over
};

/// The fail-over from the fault at time `fault` until the first group for which all of `survivors`
/// started. No value if there is no such group. `lines` are the lines of the survivors' journals,
/// ordered by time.
std::optional<Failover> failover_of(const std::vector<journal::Line>& lines, Duration fault,
                                    const NodeSet& survivors);

}  // namespace muster::apps
