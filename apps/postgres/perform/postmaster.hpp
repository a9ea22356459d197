#pragma once

#include "apps/postgres/decide/orders.hpp"
#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/options.hpp"

#include <chrono>

/// The server of PostgreSQL as a child of this process.

namespace muster::postgres {

/// Waits until no process of PostgreSQL works on a data directory. Those whose postmaster is gone
/// can do no good any more, and are ended. The lock that they leave, `postmaster.pid`, goes where
/// it would keep the next one out: PostgreSQL takes any process of its user that has the number by
/// now for the one that wrote it, and one that has ended and that nobody has waited for, too.
class Remains {
 public:
  /// Fails where a postmaster lives on that is not about to end: another's.
  Remains(const Executor& executor, std::filesystem::path data,
          std::function<void(Expected<>)> gone);

 private:
  void look();

  std::filesystem::path data_;
  std::function<void(Expected<>)> gone_;
  Pause pause_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// The postmaster and all that it starts. The kernel shuts it down (SIGQUIT) when this process
/// ends.
class Postmaster {
 public:
  /// Told once, with how it ended, when no process of it is left.
  using End = std::function<void(Failed)>;
  static Expected<std::unique_ptr<Postmaster>> launch(const Executor& executor,
                                                      const InstanceOptions& options, End ended);
  Postmaster(const Postmaster&) = delete;
  Postmaster& operator=(const Postmaster&) = delete;
  /// An immediate shutdown, and the wait for it.
  ~Postmaster();

  [[nodiscard]] pid_t pid() const { return process_.pid(); }

  /// It takes the settings of now. False, and it is not told, before its pid file is there: it has
  /// read them by then, and until then the signal may end it.
  [[nodiscard]] bool reload() const;
  /// It ends its sessions, and goes when its standbys have all that it has written.
  void shut_down_fast() const { signal(SIGINT); }
  /// As in a crash.
  void shut_down_immediately() const { signal(SIGQUIT); }

 private:
  Postmaster(const Executor& executor, const InstanceOptions& options, apps::Process process,
             End ended);
  void signal(int number) const;
  void see_end();
  [[nodiscard]] Failed describe(int status) const;

  Executor executor_;
  std::filesystem::path data_;
  std::filesystem::path log_;
  std::uintmax_t log_began_ = 0;
  apps::Process process_;
  End ended_;
  Failed how_;
  EndOfProcess end_;
  std::optional<Remains> remains_;
};

}  // namespace muster::postgres
