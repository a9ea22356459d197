#pragma once

#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/interview.hpp"

/// What a running PostgreSQL of this machine says of itself.

namespace muster::postgres {

/// Asks it, over a session of its own. Dropped, nothing is heard of it.
class FactsRead {
 public:
  /// `then` is called once. Fails with `unreachable` where it does not answer.
  FactsRead(const Executor& executor, const InstanceOptions& options,
            std::function<void(Expected<Facts>)> then);

 private:
  void ask_for_the_rest();
  void ask_who_follows();
  void read_control_file();
  void take_control_file();
  void fail(const std::string& why);
  void end(Expected<Facts> outcome);

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(Expected<Facts>)> then_;
  Facts facts_;
  Interview interview_;
  apps::Descriptor said_;  ///< what pg_controldata has written
  std::optional<Tool> tool_;
};

}  // namespace muster::postgres
