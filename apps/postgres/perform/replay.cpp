#include "apps/postgres/perform/replay.hpp"

#include "apps/postgres/server/processes.hpp"

#include <signal.h>

namespace muster::postgres {
namespace {

constexpr const char* startup_and_receivers =
    "SELECT pid, wait_event,"
    " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walreceiver'),"
    " wait_event_type IN ('Lock', 'BufferPin') OR wait_event LIKE 'RecoveryConflict%'"
    " FROM pg_stat_activity WHERE backend_type = 'startup'";

class Finish : public ReplayEndTask {
 public:
  using ReplayEndTask::ReplayEndTask;
  void begin() override {
    finish_replay([this] { done(Replayed{}); });
  }
};

}  // namespace

void ReplayEndTask::finish_replay(std::function<void()> then) {
  then_ = std::move(then);
  if (core().refused_because.empty()) return look();
  look_at_processes();
}

// A process of PostgreSQL reads the settings itself when it gets the signal, and the startup
// process decides alone whether a walreceiver runs. It sleeps between its attempts to find more
// log. A walreceiver may have written its last log after the last attempt, so one sleep proves
// nothing. If the startup process wakes and falls asleep again, it has read the settings and looked
// for log in between. The order waits for two such sleeps, since a signal or SIGSTOP can end a
// sleep without an attempt.
bool ReplayEndTask::has_looked_again(pid_t startup, bool waits,
                                     const std::optional<std::uint64_t>& slept) {
  if (!waits) {
    slept_.reset();
  } else if (slept && slept_ && *slept >= *slept_ + 2) {
    return true;
  } else {
    if (!slept_) slept_ = sleeps_of(startup);
    // Wakes the startup process, which would otherwise sleep to the end of its interval.
    ::kill(startup, SIGHUP);
  }
  return false;
}

void ReplayEndTask::look() {
  // This number is read before the question, so that the answer describes a later moment.
  const auto slept = startup_ != 0 ? sleeps_of(startup_) : std::nullopt;
  ask(startup_and_receivers, {}, [this, slept](const Answer& answer) {
    if (answer.rows.empty())
      return fail("PostgreSQL is no standby any more, although Muster did not promote it");
    const Row& row = answer.rows[0];
    startup_ = static_cast<pid_t>(number_in(row, 0));
    const bool waits = text_in(row, 1) == "RecoveryRetrieveRetryInterval" && number_in(row, 2) == 0;
    if (is_true(row, 3)) return end_readers();
    if (text_in(row, 1) == "RecoveryPause") is_paused();
    if (has_looked_again(startup_, waits, slept)) return then_();
    again([this] { look(); });
  });
}

// A promotion replays all log that is on disk, so it is no matter if some of it is not replayed
// yet.
void ReplayEndTask::look_at_processes() {
  const auto startup = process_called(options().data, "startup");
  if (!startup) return fail("PostgreSQL has no startup process, so it is no standby");
  const auto slept = sleeps_of(*startup);
  const bool waits =
      slept && !is_in_conflict(*startup) && !process_called(options().data, "walreceiver");
  if (has_looked_again(*startup, waits, slept)) return then_();
  again([this] { look_at_processes(); });
}

// Ends sessions that read on the standby. A session that reads rows which the log removes can block
// the replay for ever.
void ReplayEndTask::end_readers() {
  slept_.reset();
  ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
      " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      {}, [this](const Answer&) { again([this] { look(); }); });
}

std::unique_ptr<OrderTask> make_task(const FinishReplay&, Core& core, Tell tell) {
  return std::make_unique<Finish>(core, std::move(tell));
}

}  // namespace muster::postgres
