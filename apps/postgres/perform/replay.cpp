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

class Finish : public ErrandOfReplay {
 public:
  using ErrandOfReplay::ErrandOfReplay;
  void begin() override {
    finish_replay([this] { done(Replayed{}); });
  }
};

}  // namespace

void ErrandOfReplay::finish_replay(std::function<void()> then) {
  then_ = std::move(then);
  await_conf();
}

// A new connection shows what the postmaster knew when it forked for it, and it tells the startup
// process at the same moment.
void ErrandOfReplay::await_conf() {
  ask_anew("SHOW primary_conninfo", {}, [this](const Answer& answer) {
    if (!answer.rows.empty() && text_in(answer.rows[0], 0).empty()) return look();
    again([this] { await_conf(); });
  });
}

// The startup process sleeps between its attempts to find more, and what a walreceiver has written
// last may have come after the attempt before this sleep. Who has slept anew has looked in between;
// twice, as a signal or SIGSTOP may count for one.
void ErrandOfReplay::look() {
  // Read before the question, which so tells of a later moment.
  const auto slept = startup_ != 0 ? sleeps_of(startup_) : std::nullopt;
  ask(startup_and_receivers, {}, [this, slept](const Answer& answer) {
    if (answer.rows.empty()) return fail("PostgreSQL is no standby");
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
      // It wakes it: else it would sleep to the end of its interval.
      ::kill(startup_, SIGHUP);
    }
    again([this] { look(); });
  });
}

// Who reads something that the log removes may hold the replay back for ever.
void ErrandOfReplay::end_readers() {
  slept_.reset();
  ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
      " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      {}, [this](const Answer&) { again([this] { look(); }); });
}

std::unique_ptr<Errand> make_errand(const FinishReplay&, Core& core, Tell tell) {
  return std::make_unique<Finish>(core, std::move(tell));
}

}  // namespace muster::postgres
