#pragma once

#include "apps/postgres/server/facts.hpp"
#include "apps/postgres/server/interview.hpp"

#include <set>
#include <vector>

/// Checks the settings and the standbys of PostgreSQL repeatedly while it runs.

namespace muster::postgres {

/// Logs each finding (check.hpp) when it appears. If a finding disappears and comes back, it is
/// logged again.
class Watch {
 public:
  Watch(const Executor& executor, InstanceOptions options,
        std::function<void(const std::string&)> tell);

  /// The first check comes after a short delay, so that it does not slow a server that has just
  /// started. Further checks follow every `options.between_checks`. On a primary, clients that bear
  /// the name of a node are looked for twice a second.
  void begin();
  /// Stops at once. No callback comes afterwards. Findings that were logged are not logged again
  /// after the next begin().
  void stop();

 private:
  void look();
  void hear(const Expected<Facts>& facts);
  void look_for_impostors();
  void hear_of_impostors();

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(const std::string&)> tell_;
  Pause pause_;
  std::optional<FactsRead> read_;
  Pause short_pause_;
  std::optional<Interview> interview_;
  std::vector<Impostor> impostors_;
  std::set<std::string> impostors_said_;
  std::set<std::string> said_;
};

}  // namespace muster::postgres
