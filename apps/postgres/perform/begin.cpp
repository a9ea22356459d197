#include "apps/postgres/perform/clone.hpp"
#include "apps/postgres/perform/replay.hpp"
#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/data_on_disk.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/tools.hpp"
#include "apps/postgres/server/wal.hpp"

#include <chrono>
#include <sstream>

/// The order that starts PostgreSQL as a standby.

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Limits = std::map<std::string, std::uint64_t>;

class BeginTask : public ReplayEndTask {
 public:
  using ReplayEndTask::ReplayEndTask;

  void begin() override {
    if (!core().postmaster) return await_remains();
    if (core().ending) return;
    launched_ = true;  // an earlier order launched the server
    await_answer();
  }

  // The server that has ended may be that of an earlier life of the node, which was still shutting
  // down. In that case launches a new server. Also launches a new one if some settings are smaller
  // than at the primary, as PostgreSQL then ends.
  void server_ended(const Failed& how) override {
    pause_.stop();
    stop_waiting();
    wants_greater_limits_ |= how.why.find("insufficient parameter settings") != std::string::npos;
    if (launched_ && !would_raise_limits()) return done(how);
    await_remains();
  }
  [[nodiscard]] bool is_about_end() const override { return true; }

 private:
  void await_remains() {
    remains_.emplace(core().executor, options().data, [this](const Expected<>& gone) {
      if (holds(gone)) prepare();
    });
  }

  void prepare() {
    if (!holds(finish_clone(options()))) return;
    if (!std::filesystem::exists(options().data / "PG_VERSION"))
      return fail("there is no database in " + options().data.string() +
                  ": clone it with muster postgres join, or, in a new cluster, make it with muster "
                  "postgres create");
    // None of these steps looks at the data, so the data is not replaced if one of them fails.
    for (const auto step : {&BeginTask::seal_conf, &BeginTask::become_standby,
                            &BeginTask::remove_slots, &BeginTask::repair_log})
      if (const auto outcome = (this->*step)(); !outcome)
        return done(Failed{outcome.error().what, true});
    if (wants_greater_limits_) return read_own_limits();
    launch(options());
  }

  Expected<> become_standby() { return write_durably(options().data / "standby.signal", ""); }

  // Keeps a muster.conf that this life has written, unless the file is for a primary. A file from
  // an earlier life may name a node that this node should no longer follow.
  Expected<> seal_conf() {
    if (core().conf && !core().conf->writable) return {};
    return write_conf({});
  }

  // Without this, PostgreSQL can lose commits that this node has flushed.
  Expected<> repair_log() {
    const auto moved = move_short_files_aside(options().data / "pg_wal");
    if (!moved) return moved.error();
    for (const std::string& name : *moved)
      core().log("the WAL file " + name +
                 " ends before its timeline begins, because PostgreSQL was killed while it fetched "
                 "that file: it is called " +
                 name + ".short now, and the file of the timeline before is used");
    return {};
  }

  // The slots of an earlier group would serve standbys that no election has told of the next group.
  // No server runs now, so its files can be removed. A slot that a power failure brings back is
  // removed at the next start.
  Expected<> remove_slots() {
    std::error_code error;
    for (const auto& slot :
         std::filesystem::directory_iterator(options().data / "pg_replslot", error)) {
      if (!slot.path().filename().string().starts_with(slots_begin_with)) continue;
      std::filesystem::remove_all(slot.path(), error);
      if (error)
        return Failure{ExitCode::temporary,
                       "cannot remove " + slot.path().string() + ": " + error.message()};
    }
    return {};  // the server itself complains if the directory is missing
  }

  // --- Settings that must not be smaller than at the primary whose log is replayed

  // PostgreSQL prints the values that it would have, from its files and its command line. That
  // takes 20 ms for each, so it is done only if PostgreSQL has complained. An error in them is told
  // by the server when it starts.
  void read_own_limits() {
    of_primary_ = limits_of_primary();
    std::string names;
    for (const auto& [name, value] : of_primary_) names += ' ' + name;
    std::vector<std::string> words{
        "-c", "for name in" + names + "; do \"$0\" \"$@\" -C \"$name\" || exit 1; done",
        program_of(options(), "postgres", {}).program.string()};
    for (std::string& word : postmaster_arguments(options())) words.push_back(std::move(word));
    own_limits_.emplace(core().executor, program_of(options(), "sh", std::move(words)),
                        [this](const Expected<std::string>& printed) {
                          launch(printed ? raised(*printed) : options());
                        });
  }

  /// The options with those values of the primary that are greater than this node's own.
  [[nodiscard]] InstanceOptions raised(const std::string& own_values) {
    InstanceOptions raised = options();
    std::istringstream lines(own_values);
    std::uint64_t own = 0;
    for (const auto& [name, wanted] : of_primary_) {
      if (!(lines >> own)) return options();
      if (wanted <= own) continue;
      raised.settings[name] = std::to_string(wanted);
      core().log(name + " is " + std::to_string(wanted) +
                 " here while this server runs, as at the primary whose log it replays: its own "
                 "value, " +
                 std::to_string(own) + ", is too small");
    }
    return raised;
  }

  // PostgreSQL pauses if the log contains greater settings than its own.
  void is_paused() override {
    wants_greater_limits_ = true;
    if (would_raise_limits()) core().postmaster->shut_down_fast();
  }

  [[nodiscard]] bool would_raise_limits() const {
    return wants_greater_limits_ && limits_of_primary() != of_primary_;
  }
  /// Empty: the control file cannot be read, about which the server complains.
  [[nodiscard]] Limits limits_of_primary() const {
    const auto control = read_control_file(options().data);
    return control ? control->of_primary : Limits{};
  }

  // --- The server

  void launch(const InstanceOptions& with_limits) {
    auto launched = Postmaster::launch(core().executor, with_limits, core().server_ended);
    if (!launched) return fail(launched.error().what);
    launched_ = true;
    core().postmaster = std::move(*launched);
    core().refused_because.clear();
    progress_.clear();
    await_answer();
  }

  void await_answer() {
    look_at_progress();
    if (!takes_connections(options().data, core().postmaster->pid()))
      return look_at_recovery(Clock::now() - rests_since_, not_yet);
    const auto began = Clock::now();
    ask_on_new_connection(
        "SELECT 1", {}, [this](const Answer&) { take_part(); },
        [this, began](const SqlError& error) {
          if (!refused_since_) refused_since_ = began;
          look_at_recovery(Clock::now() - *refused_since_, error.what);
        });
  }

  void take_part() {
    if (core().conf->follows) return done(Began{});
    finish_replay([this] { done(Began{}); });
  }

  // The promise must not depend on whether the server admits a session. For example, a standby that
  // is whole admits none while a transaction with many subtransactions is open, or while a lock on
  // a catalogue is replayed. So after a while its files are read.
  void look_at_recovery(Duration in_vain_for, const std::string& refused_because) {
    if (in_vain_for < patience_with_server || Clock::now() < next_look_at_files_) return later();
    next_look_at_files_ = Clock::now() + between_looks;
    const auto disk = read_data_on_disk(options().data);
    if (disk && disk->lacks.empty()) {
      core().refused_because = refused_because;
      const bool is_recovering = refused_because == not_yet;
      core().log(
          "PostgreSQL admits no session of its own node: " + refused_because +
          (is_recovering ? ", as while a transaction has more than 64 subtransactions" : "") +
          ". Its data is whole, so this node takes part by its files");
      return take_part();
    }
    const std::string lacks = disk ? disk->lacks : disk.error().what;
    if (std::exchange(lacks_, lacks) != lacks)
      core().log("PostgreSQL admits no session of its own node: " + refused_because +
                 ", and its files do not show that its data is whole: " + lacks);
    const auto& follows = core().conf->follows;
    if (Clock::now() - since_ < options().longest_standstill || (!disk && !follows)) return later();
    if (follows)
      return fail("recovery waits in vain for WAL of node " + std::to_string(follows->value) +
                  ", without which the database is not consistent");
    fail("recovery waits in vain for more WAL: " + lacks);
  }

  void later() {
    pause_.wait(between_questions, [this] { await_answer(); });
  }

  // A rewound database becomes consistent only with more of its source's log. If the source has
  // moved to another group or is down, that log does not come, and the titles of the processes stay
  // the same. A startup process that sleeps for longer replays nothing.
  void look_at_progress() {
    const auto now = Clock::now();
    if (now < looks_) return;
    looks_ = now + between_looks;
    std::string progress = progress_of_recovery(options().data);
    if (progress.empty() || progress != progress_) since_ = rests_since_ = now;
    progress_ = std::move(progress);
    const auto startup = process_called(options().data, "startup");
    if (startup && !sleeps_of(*startup)) rests_since_ = now;
  }

  static constexpr const char* not_yet = "it is not yet accepting connections";
  static constexpr Duration between_questions = 2ms, between_looks = 250ms,
                            patience_with_server = 1s;

  Pause pause_{core().executor};
  std::optional<Remains> remains_;
  std::optional<ToolOutput> own_limits_;
  bool launched_ = false;
  bool wants_greater_limits_ = false;
  Limits of_primary_;  ///< with which the server was launched; empty: with its own
  std::optional<Clock::time_point> refused_since_;
  std::string progress_, lacks_;
  Clock::time_point looks_, next_look_at_files_;
  Clock::time_point since_ = Clock::now();  ///< there has been no progress
  Clock::time_point rests_since_ = since_;  ///< nor has the startup process worked
};

}  // namespace

std::unique_ptr<OrderTask> make_task(const Begin&, Core& core, Tell tell) {
  return std::make_unique<BeginTask>(core, std::move(tell));
}

}  // namespace muster::postgres
