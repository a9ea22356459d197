#pragma once

#include "apps/postgres/decide/status.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/interview.hpp"

namespace muster::postgres {

/// What the PostgreSQL of the primary says of who follows it. Dropped, nothing is heard of it.
class PrimaryRead {
 public:
  /// Asks that node at its address, wherever this is. `then` is called once.
  PrimaryRead(const Executor& executor, InstanceOptions options, NodeId primary, Duration bound,
              std::function<void(SqlExpected<PrimarySaid>)> then);

 private:
  PrimarySaid said_;
  Interview interview_;
};

}  // namespace muster::postgres
