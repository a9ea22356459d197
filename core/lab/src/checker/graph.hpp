#pragma once

#include "fairness.hpp"
#include "visited.hpp"

#include <muster/lab/checker.hpp>

/// The search of one thread that remembers from where each world was reached first and, for
/// liveness, what can be reached from it.

namespace muster::lab::explored {

class Graph {
 public:
  Graph(const Bounds& bounds, const std::function<bool()>& interrupted)
      : values_(bounds), interrupted_(interrupted), mover_(values_) {}
  void run(CheckReport& report, const std::function<void(const Progress&)>& tell);

 private:
  /// Worlds by the order in which they were reached.
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
  std::vector<bool> settled_;   ///< Assertion 2 holds there
  std::vector<bool> unknown_;   ///< a successor was cut
  std::vector<Id> successors_;  ///< one world's after the other's, without failures
  std::vector<Kind> kinds_;     ///< of the transitions to them
  std::vector<std::uint64_t> ends_;
  std::vector<Label> labels_;
};

}  // namespace muster::lab::explored
