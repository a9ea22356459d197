#pragma once

#include "apps/postgres/server/facts.hpp"

#include <set>

/// How PostgreSQL is set, looked at again while it runs.

namespace muster::postgres {

/// Says each finding (check.hpp) when it comes, and again when it has gone and comes back.
class Watch {
 public:
  Watch(const Executor& executor, InstanceOptions options,
        std::function<void(const std::string&)> tell);

  /// Looks a moment later, when what has just begun is not held up by it, and again every
  /// `options.between_checks`.
  void begin();
  /// At once: nothing of it goes on any more. What was said is still known.
  void stop();

 private:
  void look();
  void hear(const Expected<Facts>& facts);

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(const std::string&)> tell_;
  Pause pause_;
  std::optional<FactsRead> read_;
  std::set<std::string> said_;
};

}  // namespace muster::postgres
