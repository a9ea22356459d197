#pragma once

#include <muster/journal/journal.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// What a fail-over was made of, read from the journals of the survivors.

namespace muster::apps {

/// The parts of one fail-over, in their order; together they are the whole.
enum class Phase {
  noticed,          ///< from the fault to the first event that told of it at the new coordinator
  election,         ///< to its first Halt: Timeout(i), phase A
  halts,            ///< to the answer to the last Halt
  own_stop,         ///< what the own stop took beyond that
  new_coordinator,  ///< to the last answer to NewCoordinator
  reorganize,       ///< to the end of the hook
  ready,            ///< to the last member's taking Ready
  commits,          ///< to the last survivor's `start` that begins: definitions are durable
  start,            ///< to the end of the last survivor's `start`
};
MUSTER_DESCRIBE_ENUM(Phase, noticed, election, halts, own_stop, new_coordinator, reorganize, ready,
                     commits, start)
inline constexpr std::size_t phase_count = 9;

struct Failover {
  NodeId coordinator;  ///< the new one
  std::size_t members = 0;
  Duration whole{};  ///< from the fault until the last survivor's application has started
  std::array<Duration, phase_count> phases{};
  std::uint64_t letters = 0;  ///< between the survivors, from the fault until then
};

/// The fail-over after the fault at `fault`: to the first group that all of `survivors` started
/// for. None where they did not. `lines` are the lines of the survivors' journals, in the order of
/// their time.
std::optional<Failover> failover_of(const std::vector<journal::Line>& lines, Duration fault,
                                    const NodeSet& survivors);

}  // namespace muster::apps
