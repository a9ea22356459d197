#include "apps/postgres/perform/clone.hpp"
#include "apps/postgres/perform/replay.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/wal.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

/// Orders about the server's process, and about files.

namespace muster::postgres {
namespace {

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
  // down. In that case launches a new server.
  void server_ended(const Failed& how) override {
    if (!not_admitted_.empty()) return done(Failed{not_admitted_, true});
    if (launched_) return done(how);
    await_remains();
  }
  [[nodiscard]] bool is_about_end() const override { return true; }

 private:
  void await_remains() {
    remains_.emplace(core().executor, options().data, [this](const Expected<>& gone) {
      if (holds(gone)) launch();
    });
  }

  void launch() {
    if (!holds(finish_clone(options()))) return;
    if (!std::filesystem::exists(options().data / "PG_VERSION"))
      return fail("there is no database in " + options().data.string() +
                  ": clone it with muster postgres join, or, in a new cluster, make it with muster "
                  "postgres create");
    if (const auto prepared = prepare(); !prepared)
      return done(Failed{prepared.error().what, true});
    auto launched = Postmaster::launch(core().executor, options(), core().server_ended);
    if (!launched) return fail(launched.error().what);
    launched_ = true;
    core().postmaster = std::move(*launched);
    await_answer();
  }

  // None of these steps looks at the data, so the data is not replaced if one of them fails.
  Expected<> prepare() {
    for (const auto step : {&BeginTask::seal_conf, &BeginTask::become_standby,
                            &BeginTask::remove_slots, &BeginTask::repair_log})
      if (auto outcome = (this->*step)(); !outcome) return outcome;
    return {};
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

  void await_answer() {
    if (!takes_connections(options().data, core().postmaster->pid())) {
      if (core().conf->follows && is_stalled())
        return fail("recovery waits in vain for WAL of node " +
                    std::to_string(core().conf->follows->value) +
                    ", without which the database is not consistent");
      return again([this] { await_answer(); });
    }
    const auto answers = [this](const Answer&) {
      if (core().conf->follows) return done(Began{});
      finish_replay([this] { done(Began{}); });
    };
    ask_on_new_connection("SELECT 1", {}, answers, [this](const SqlError& error) {
      if (lets_nobody_in(error)) return give_up(error);
      again([this] { await_answer(); });
    });
  }

  static bool lets_nobody_in(const SqlError& error) {
    constexpr std::string_view said[] = {"pg_hba.conf", "authentication failed", "does not exist",
                                         "is not permitted to log in"};
    return std::any_of(std::begin(said), std::end(said), [&](std::string_view each) {
      return error.what.find(each) != std::string::npos;
    });
  }

  // If PostgreSQL refuses the sessions of its own node, the node can neither open PostgreSQL nor
  // report its data. So the node shuts PostgreSQL down.
  void give_up(const SqlError& error) {
    not_admitted_ = "PostgreSQL refuses the connection of its own node: " + error.what;
    core().ending = true;
    core().postmaster->shut_down_immediately();
  }

  // True if recovery makes no progress. A rewound database becomes consistent only with more of its
  // source's log. If the source has moved to another group or is down, that log does not come.
  bool is_stalled() {
    const auto now = std::chrono::steady_clock::now();
    if (now < looks_) return false;
    looks_ = now + between_looks;
    if (std::string progress = progress_of_recovery(options().data);
        progress.empty() || progress != progress_) {
      progress_ = std::move(progress);
      since_ = now;
    }
    return now - since_ > options().longest_standstill;
  }

  static constexpr auto between_looks = std::chrono::seconds(1);

  std::optional<Remains> remains_;
  bool launched_ = false;
  std::string not_admitted_;
  std::string progress_;
  std::chrono::steady_clock::time_point looks_, since_ = std::chrono::steady_clock::now();
};

class EndTask : public OrderTask {
 public:
  EndTask(const End& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), how_(order.how) {}

  void begin() override {
    if (!core().postmaster) return await_remains();
    core().ending = true;
    if (how_ == Shutdown::fast)
      core().postmaster->shut_down_fast();
    else
      core().postmaster->shut_down_immediately();
  }
  void server_ended(const Failed&) override { done(Ended{}); }
  [[nodiscard]] bool is_about_end() const override { return true; }

 private:
  // Waits for the processes that a killed life of this node has left.
  void await_remains() {
    remains_.emplace(core().executor, options().data, [this](const Expected<>& gone) {
      if (holds(gone)) done(Ended{});
    });
  }

  Shutdown how_;
  std::optional<Remains> remains_;
};

class ConfigureTask : public OrderTask {
 public:
  ConfigureTask(const Configure& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), conf_(order.conf) {}

  void begin() override {
    if (conf_.follows && !options().nodes.contains(*conf_.follows))
      return fail("there is no node " + std::to_string(conf_.follows->value) + " to follow");
    if (holds(write_conf(conf_))) reload();
  }

 private:
  void reload() {
    if (core().postmaster && !core().postmaster->reload()) return again([this] { reload(); });
    done(Configured{});
  }

  Conf conf_;
};

class WriteNoteTask : public OrderTask {
 public:
  WriteNoteTask(const WriteNote& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), note_(order.note) {}

  void begin() override {
    if (note_ || !core().conf || !core().conf->follows) return write();
    ask("SELECT system_identifier, flushed_lsn FROM pg_control_system()"
        " LEFT JOIN pg_stat_wal_receiver ON true",
        {}, [this](const Answer& answer) { record(answer.rows.at(0)); });
  }

 private:
  // Without its note, this node counts. If its log has no marker yet, as after a rewind, it would
  // report less than the note did. So it records the term of its primary first.
  void record(const Row& row) {
    const auto known = read_known_terms(options(), number_in(row, 0));
    if (!known) return fail(known.error().what);
    const auto term = std::find_if(
        known->markers.begin(), known->markers.end(),
        [this](const Marker& marker) { return marker.term.group == core().conf->group; });
    if (term == known->markers.end()) return write();  // its primary is of an older version
    const auto flushed = parse_lsn(text_in(row, 1));
    if (!flushed || *flushed < term->term.lsn) return again([this] { begin(); });
    if (holds(record_term(known->system, *term))) write();
  }

  void write() {
    if (holds(write_note(options(), note_))) done(Noted{});
  }

  std::optional<Note> note_;
};

}  // namespace

std::unique_ptr<OrderTask> make_task(const Begin&, Core& core, Tell tell) {
  return std::make_unique<BeginTask>(core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const End& order, Core& core, Tell tell) {
  return std::make_unique<EndTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const Configure& order, Core& core, Tell tell) {
  return std::make_unique<ConfigureTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const WriteNote& order, Core& core, Tell tell) {
  return std::make_unique<WriteNoteTask>(order, core, std::move(tell));
}

}  // namespace muster::postgres
