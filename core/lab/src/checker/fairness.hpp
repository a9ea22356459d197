#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Ways on which Assertion 2 is avoided for ever although nothing is left out that could happen all
/// the time.

namespace muster::lab::explored {

/// Of which kind a transition is: the same letter box, timer, hook or call of the same node. What
/// is enabled for ever and never taken makes a way unfair (weak fairness).
using Kind = std::uint16_t;
constexpr std::size_t most_kinds = 896;
using Kinds = std::bitset<most_kinds>;

/// Worlds and the transitions between them without failures: those of world i lie from ends[i - 1]
/// to ends[i].
struct Transitions {
  const std::vector<std::uint32_t>& successors;
  const std::vector<Kind>& kinds;
  const std::vector<std::uint64_t>& ends;

  [[nodiscard]] std::uint64_t begin_of(std::uint32_t world) const {
    return world == 0 ? 0 : ends[world - 1];
  }
};

/// Worlds that lie on one fair way round, none of which is to be avoided or is unknown; empty where
/// there is none. Of several it is the one with the world that was reached first.
std::vector<std::uint32_t> fair_cycle(const Transitions& graph, const std::vector<bool>& avoided,
                                      const std::vector<bool>& unknown);

/// A way from a world back to it inside these worlds, without the first and with the last.
std::vector<std::uint32_t> way_round(const Transitions& graph,
                                     const std::vector<std::uint32_t>& worlds);

}  // namespace muster::lab::explored
