#pragma once

#include "apps/cluster/cluster.hpp"
#include "apps/cluster/script.hpp"

#include <functional>
#include <string>

namespace muster::apps {

/// Plays the steps of a script on a cluster.
class Player {
 public:
  /// `refresh` is called now and then while the player waits.
  Player(Cluster& cluster, std::function<void()> refresh)
      : cluster_(cluster), refresh_(std::move(refresh)) {}

  /// Plays one step. Fails with `usage` if the step is impossible now, with `does_not_hold` if
  /// `wait normal` took too long, and with the cluster's failure if a process cannot be started.
  Expected<> play(const ScriptStep& step);

  /// The nodes that an act selects at this moment.
  Expected<NodeSet> choose(const Act& act) const;

 private:
  Expected<> play(const WaitNormal& wait, const ScriptStep& step);
  Expected<> play(const Act& act, const ScriptStep& step);
  Expected<> play(const Run& run, const ScriptStep& step);
  [[nodiscard]] NodeSet possible(Verb verb) const;
  [[nodiscard]] std::optional<NodeId> coordinator(const NodeSet& possible) const;
  bool wait(const std::function<bool()>& done, Duration within);

  Cluster& cluster_;
  std::function<void()> refresh_;
};

}  // namespace muster::apps
