#pragma once

#include "apps/postgres/server/conf.hpp"

#include <functional>
#include <string>

/// A standby without data, for a primary that writes alone beside a witness.

namespace muster::postgres {

/// Streams the log of the node's own primary, and reports each byte as flushed. So PostgreSQL
/// acknowledges commits although no other node has them. It ends with its node: PostgreSQL itself
/// keeps nothing by which commits could be acknowledged alone afterwards.
///
/// Not thread-safe: use it on the thread of its executor. Destroying it closes the connection. The
/// walsender that served it may live for a moment longer.
class Acknowledger {
 public:
  Acknowledger(const Executor& executor, const InstanceOptions& options);

  /// Connects, and connects again whenever the connection is lost. `begun` is called once, when the
  /// first stream begins, and `failed` after each attempt before that.
  void begin(std::function<void()> begun, std::function<void(const SqlError&)> failed);

 private:
  void try_again(const SqlError& error);
  void start();
  void start_at(const std::string& lsn, const std::string& timeline);
  void take(const std::string& message);
  void repeat();
  void acknowledge();

  const Executor executor_;
  const Session::Parameters parameters_;
  Pause pause_;
  std::optional<Session> session_;
  std::function<void()> begun_;  ///< none: a stream has begun once
  std::function<void(const SqlError&)> failed_;
  std::uint64_t position_{};  ///< the end of the log that has arrived
};

}  // namespace muster::postgres
