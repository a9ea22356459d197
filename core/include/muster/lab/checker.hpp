#pragma once

#include <muster/assertions.hpp>
#include <muster/lab/bounds.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Exhaustive search: every interleaving of what may happen, breadth first, on the `step` that
/// ships.

namespace muster::lab {

/// The shortest way to a world in which an assertion does not hold.
struct Counterexample {
  std::string assertion;
  Disagreement disagreement;
  std::vector<std::string> story;  ///< one line a step
};

/// How far the search came.
struct Progress {
  std::uint64_t states{};
  std::uint64_t transitions{};
  unsigned depth{};
};

struct CheckReport {
  Progress progress;
  bool exhausted = false;
  std::uint64_t cut{};  ///< successors that were not looked at: a queue was full
  double seconds{};
  std::uint64_t memory{};  ///< bytes of fingerprints, values and worlds
  std::optional<Counterexample> counterexample;
};

/// Searches the world of `bounds`, and tells `progress` at each new depth.
CheckReport check(const Bounds& bounds, const std::function<void(const Progress&)>& progress);

}  // namespace muster::lab
