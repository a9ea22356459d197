#pragma once

#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/interview.hpp"
#include "apps/postgres/server/marker.hpp"

/// Asks a running PostgreSQL of this machine for its state and settings.

namespace muster::postgres {

/// Asks PostgreSQL over a session of its own. Destroying this object cancels the callback.
class FactsRead {
 public:
  /// `then` is called once. Its error is `unreachable` if PostgreSQL does not answer.
  FactsRead(const Executor& executor, const InstanceOptions& options,
            std::function<void(Expected<Facts>)> then);

 private:
  void ask_for_the_rest();
  void ask_for_followers();
  void fail(const std::string& why);
  void end(Expected<Facts> outcome);

  const Executor executor_;
  const InstanceOptions options_;
  const Expected<KnownTerms> known_;
  std::function<void(Expected<Facts>)> then_;
  Facts facts_;
  Interview interview_;
};

}  // namespace muster::postgres
