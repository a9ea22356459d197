#pragma once

#include "apps/postgres/decide/orders.hpp"
#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/options.hpp"

#include <chrono>

/// The server of PostgreSQL as a child of this process.

namespace muster::postgres {

/// Waits until no process of PostgreSQL works on a data directory. Ends processes that have lost
/// their postmaster. Then removes the lock file of these processes, `postmaster.pid`, if this file
/// would keep the next server from starting. The lock names a process id. If any process of
/// PostgreSQL's user has that id now, even an unrelated one or a zombie, PostgreSQL takes it for
/// the process that wrote the lock.
class Remains {
 public:
  /// Fails if another postmaster runs on the data directory and is not about to end.
  Remains(const Executor& executor, std::filesystem::path data,
          std::function<void(Expected<>)> gone);

 private:
  void look();

  std::filesystem::path data_;
  std::function<void(Expected<>)> gone_;
  Pause pause_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// The postmaster and all processes that it starts. When this process ends, the kernel sends the
/// postmaster SIGQUIT.
class Postmaster {
 public:
  /// Called once, when no process of the server is left, with the reason why it ended.
  using End = std::function<void(Failed)>;
  static Expected<std::unique_ptr<Postmaster>> launch(const Executor& executor,
                                                      const InstanceOptions& options, End on_end);
  Postmaster(const Postmaster&) = delete;
  Postmaster& operator=(const Postmaster&) = delete;
  /// Shuts the server down at once, and waits until it has ended.
  ~Postmaster();

  [[nodiscard]] pid_t pid() const { return process_.pid(); }

  /// Makes the server read its settings again. Before the server's pid file exists, returns false
  /// and sends no signal. Such an early signal could kill the server. It is not needed either,
  /// because the server reads its settings at its start.
  [[nodiscard]] bool reload() const;
  /// Makes a standby with the file `promote` in its data directory end its recovery.
  void promote() const { signal(SIGUSR1); }
  /// Ends the sessions of the server. The server exits when its standbys have all that it has
  /// written.
  void shut_down_fast() const { signal(SIGINT); }
  /// Ends the server as in a crash.
  void shut_down_immediately() const;

 private:
  Postmaster(const Executor& executor, const InstanceOptions& options, apps::Process process,
             End on_end);
  void signal(int number) const;
  void see_end();
  [[nodiscard]] Failed describe(int status) const;

  Executor executor_;
  std::filesystem::path data_;
  std::filesystem::path log_;
  std::uintmax_t log_began_ = 0;
  apps::Process process_;
  End on_end_;
  Failed how_;
  EndOfProcess end_;
  std::optional<Remains> remains_;
};

}  // namespace muster::postgres
