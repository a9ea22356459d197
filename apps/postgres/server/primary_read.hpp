#pragma once

#include "apps/postgres/decide/status.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/interview.hpp"

namespace muster::postgres {

/// Asks the primary's PostgreSQL which nodes follow it. Destroying this object cancels the
/// callback.
class PrimaryRead {
 public:
  /// Asks the node `primary` at its network address, on any machine. `then` is called once.
  PrimaryRead(const Executor& executor, InstanceOptions options, NodeId primary, Duration bound,
              std::function<void(SqlExpected<PrimarySaid>)> then);

 private:
  void take(const KnownTerms& known);
  void ask_for_row();

  PrimarySaid said_;
  Interview interview_;
};

}  // namespace muster::postgres
