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
  await_conf();
}

// A new connection shows the settings that the postmaster had when it forked that connection. When
// the postmaster reads new settings, it also signals the startup process. So once a new connection
// shows no source, the startup process has been told.
void ReplayEndTask::await_conf() {
  ask_on_new_connection("SHOW primary_conninfo", {}, [this](const Answer& answer) {
    if (!answer.rows.empty() && text_in(answer.rows[0], 0).empty()) return look();
    again([this] { await_conf(); });
  });
}

// The startup process sleeps between its attempts to find more log. A walreceiver may have written
// its last log after the last attempt, so one sleep proves nothing. If the startup process wakes
// and falls asleep again, it has looked for log in between. The order waits for two such sleeps,
// since a signal or SIGSTOP can end a sleep without an attempt.
void ReplayEndTask::look() {
  // This number is read before the question, so that the answer describes a later moment.
  const auto slept = startup_ != 0 ? sleeps_of(startup_) : std::nullopt;
  ask(startup_and_receivers, {}, [this, slept](const Answer& answer) {
    if (answer.rows.empty())
      return fail("PostgreSQL is no standby any more, although Muster did not promote it");
    const Row& row = answer.rows[0];
    startup_ = static_cast<pid_t>(number_in(row, 0));
    const bool waits = text_in(row, 1) == "RecoveryRetrieveRetryInterval" && number_in(row, 2) == 0;
    if (is_true(row, 3)) {
      return end_readers();
    } else if (!waits) {
      slept_.reset();
    } else if (slept && slept_ && *slept >= *slept_ + 2) {
      return then_();
    } else {
      if (!slept_) slept_ = sleeps_of(startup_);
      // Wakes the startup process, which would otherwise sleep to the end of its interval.
      ::kill(startup_, SIGHUP);
    }
    again([this] { look(); });
  });
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
