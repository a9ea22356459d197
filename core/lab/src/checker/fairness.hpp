#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Cycles on which Assertion 2 is avoided for ever, although every move that is possible all the
/// time is taken.

namespace muster::lab::explored {

/// The kind of a transition: two transitions are of one kind if they use the same queue, timer,
/// hook or call of the same node. A cycle on which one kind is always possible and never taken is
/// unfair (weak fairness).
using Kind = std::uint16_t;
constexpr std::size_t most_kinds = 896;
using Kinds = std::bitset<most_kinds>;

/// Worlds and the transitions between them, without failures. The transitions from world i are
/// those from ends[i - 1] to ends[i].
struct Transitions {
  const std::vector<std::uint32_t>& successors;
  const std::vector<Kind>& kinds;
  const std::vector<std::uint64_t>& ends;

  [[nodiscard]] std::uint64_t begin_of(std::uint32_t world) const {
    return world == 0 ? 0 : ends[world - 1];
  }
};

/// The worlds of one fair cycle that has no world to be avoided and no unknown one; empty if there
/// is none. If there are several such cycles, returns the one with the world that was reached
/// first.
std::vector<std::uint32_t> fair_cycle(const Transitions& graph, const std::vector<bool>& avoided,
                                      const std::vector<bool>& unknown);

/// A cycle inside `worlds` from the first world back to that world: all worlds after the first, the
/// last one included.
std::vector<std::uint32_t> way_round(const Transitions& graph,
                                     const std::vector<std::uint32_t>& worlds);

}  // namespace muster::lab::explored
