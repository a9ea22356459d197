#pragma once

#include "fairness.hpp"
#include "visited.hpp"

#include <muster/lab/checker.hpp>

/// The search by one thread. The search remembers from which world each world was first reached.
/// For liveness it also remembers the successors of each world.

namespace muster::lab::explored {

class Graph {
 public:
  Graph(const Bounds& bounds, const std::function<bool()>& interrupted)
      : values_(bounds), interrupted_(interrupted), mover_(values_) {}
  void run(CheckReport& report, const std::function<void(const Progress&)>& tell);

 private:
  /// The number of a world, in the order in which worlds were reached.
  using Id = std::uint32_t;

  void look_from(const CheckedWorld& world, Id from, Worlds& next, CheckReport& report);
  [[nodiscard]] bool limited(const Progress& progress) const;
  void find_wedged(CheckReport& report);
  void find_wedged_before_the_limit(CheckReport& report);
  void find_cycle(CheckReport& report);
  [[nodiscard]] std::vector<Label> path_to(std::vector<std::uint64_t> way);
  [[nodiscard]] std::vector<std::uint64_t> way_to(Id id) const;
  [[nodiscard]] std::uint64_t memory() const;

  Values values_;
  const std::function<bool()>& interrupted_;
  Mover mover_;
  Memo<Id> ids_;
  std::vector<std::uint64_t> fingerprints_;
  std::vector<Id> from_;
  std::vector<bool> settled_;   ///< Assertion 2 holds in the world
  std::vector<bool> unknown_;   ///< a successor was not searched
  std::vector<Id> successors_;  ///< the successors of all worlds, one world after the other,
                                ///< without failures
  std::vector<Kind> kinds_;     ///< the kinds of the transitions to the successors
  std::vector<std::uint64_t> ends_;
  std::vector<Label> labels_;
};

}  // namespace muster::lab::explored
