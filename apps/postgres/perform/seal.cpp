#include "apps/postgres/perform/order_task.hpp"
#include "apps/postgres/server/data_on_disk.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/wal.hpp"

#include <algorithm>

/// Orders that establish the holding of a sealed node.

namespace muster::postgres {
namespace {

class ShowConfTask : public OrderTask {
 public:
  using OrderTask::OrderTask;

  void begin() override {
    if (!core().conf) return fail("muster.conf is not written yet");
    digest_ = conf_digest(options(), *core().conf);
    look();
  }

 private:
  static constexpr unsigned tries_before_doubt = 100;
  static constexpr unsigned most_tries = 2000;

  void look() {
    ask_on_new_connection(
        "SELECT current_setting($1, true)", {digest_setting},
        [this](const Answer& answer) {
          if (text_in(answer.rows.at(0), 0) == digest_) return done(ConfShown{});
          if (++tries_ >= most_tries)
            return fail("PostgreSQL does not read muster.conf: make \"" +
                        std::string(include_line) + "\" the last line of postgresql.conf");
          if (tries_ % tries_before_doubt == 0) return look_for_errors_in_files([this] { look(); });
          again([this] { look(); });
        },
        [this](const SqlError& error) {
          if (++tries_ >= most_tries) return fail("PostgreSQL does not answer: " + error.what);
          again([this] { look(); });
        });
  }

  std::string digest_;
  unsigned tries_ = 0;
};

// A slot that is in use cannot be dropped, so the walsender that uses it is ended first. The
// standby may connect again before its slot is dropped, so this goes round until nothing is left.
// All statements use one open session: with a new connection for each, a standby would always be
// faster. A walsender without a slot can acknowledge only if its client bears the name of a node.
class CloseGateTask : public OrderTask {
 public:
  using OrderTask::OrderTask;

  void begin() override {
    core().acknowledger.reset();
    end_walsenders();
  }

 private:
  void end_walsenders() {
    ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'walsender'"
        " AND (application_name = ANY($1::text[]) OR pid IN (SELECT active_pid FROM"
        " pg_replication_slots WHERE starts_with(slot_name, $2)))",
        {names_, slots_begin_with}, [this](const Answer&) { drop_slots(); });
  }

  void drop_slots() {
    ask(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
        " WHERE slot_type = 'physical' AND starts_with(slot_name, $1) AND active_pid IS NULL",
        {slots_begin_with}, [this](const Answer&) { look(); },
        [this](const SqlError&) { again([this] { end_walsenders(); }); });
  }

  void look() {
    ask("SELECT FROM pg_replication_slots WHERE starts_with(slot_name, $2) UNION ALL SELECT FROM"
        " pg_stat_activity WHERE backend_type = 'walsender' AND application_name ="
        " ANY($1::text[])",
        {names_, slots_begin_with}, [this](const Answer& answer) {
          if (answer.rows.empty()) return done(GateClosed{});
          again([this] { end_walsenders(); });
        });
  }

  const std::string names_ = sql_array(standby_names(options().copies()));
};

class LookTask : public OrderTask {
 public:
  using OrderTask::OrderTask;

  void begin() override {
    if (!core().refused_because.empty()) return look_at_disk();
    ask("SELECT (SELECT system_identifier FROM pg_control_system()), pg_is_in_recovery(),"
        " CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
        " ELSE pg_current_wal_flush_lsn() END,"
        " CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END,"
        " (SELECT pid FROM pg_stat_activity WHERE backend_type = 'startup'), current_database()",
        {}, [this](const Answer& answer) { see(answer.rows.at(0)); });
  }

 private:
  void see(const Row& row) {
    holding_.system = number_in(row, 0);
    holding_.primary = !is_true(row, 1);
    const auto lsn = parse_lsn(text_in(row, 2));
    if (!lsn) return fail("PostgreSQL does not report the position of its WAL");
    holding_.lsn = *lsn;
    database_ = text_in(row, 5);
    std::string file = text_in(row, 3);
    if (!holding_.primary) {
      // A log file is named after its timeline. The file may also contain log of earlier timelines.
      const auto read = log_file_read_by(static_cast<pid_t>(number_in(row, 4)));
      file = read ? *read : last_log_file();
    }
    const auto timeline = timeline_in(file);
    if (!timeline) return fail("PostgreSQL does not report the timeline of its WAL");
    holding_.timeline = *timeline;
    look_for_marker();
  }

  void look_at_disk() {
    const auto disk = read_data_on_disk(options().data);
    if (!disk) return fail(disk.error().what);
    if (!disk->lacks.empty()) return fail("the data is not consistent: " + disk->lacks);
    holding_.system = disk->system;
    holding_.lsn = disk->end;
    holding_.timeline = disk->timeline;
    look_for_marker();
  }

  void look_for_marker() {
    if (!holds(learn_news())) return;
    const auto marker =
        greatest_marker(options().data / "pg_wal", options().marker_keys,
                        {options().cluster, holding_.system}, holding_.timeline, holding_.lsn);
    if (!marker) return fail(marker.error().what);
    if (*marker) take((*marker)->term, (*marker)->copies);
    KnownTerms news{holding_.system, *marker && (*marker)->rows_ended, {}};
    if (*marker) news.markers.push_back(**marker);
    const auto known = learn_terms(options(), news);
    if (!known) return fail(known.error().what);
    known_ = *known;
    is_marked_ = marker->has_value();
    if (!known_.rows_ended) return look_for_row();
    take_recorded();
  }

  void take(const Term& term, const std::optional<Copies>& copies) {
    holding_.term = term;
    holding_.copies = copies;
  }

  // Before a node counts as a copy it records its term (OrderTask::record_term). So if the log
  // reaches what was recorded, its term is at least that one, although markers may be gone. If the
  // log does not reach it, this node has lost data. Without a marker and without a record, no group
  // has begun in this log.
  void take_recorded() {
    const auto held = read_held(options());
    if (!held) return fail(held.error().what);
    if (!*held && !is_marked_ && known_.rows_ended) take_first();
    if (*held && holding_.term.group < (*held)->term.group) {
      // After pg_resetwal the log goes on at a greater position than the one that it had.
      const bool is_emptied = !is_marked_ && was_reset(options().data / "pg_wal");
      if (!is_emptied && (*held)->system == holding_.system &&
          has((*held)->term.timeline, (*held)->lsn))
        take((*held)->term, (*held)->copies);
      else
        at_least_ = *held;
    }
    leave_out_fork();
  }

  void take_first() {
    for (const Marker& marker : known_.markers)
      if (marker.term.group.counter == 0) take(marker.term, marker.copies);
  }

  /// True if the log has this position on this timeline.
  bool has(std::uint32_t timeline, Lsn lsn) {
    if (holding_.lsn < lsn) return false;
    if (timeline == holding_.timeline) return true;
    const auto history = read_text(options().data / "pg_wal" / history_file(holding_.timeline));
    const auto ends = ends_in(history ? history->value_or("") : "");
    const auto end = ends.find(timeline);
    return end != ends.end() && lsn <= end->second;
  }

  // While nodes of an older version take part, the term is the greater of marker and row: they
  // write rows only.
  void look_for_row() {
    if (database_ != options().database)
      return fail("the database " + options().database +
                  " admits no session, so the table muster.term in it cannot be read");
    ask(
        std::string("SELECT ") + columns_of_terms + ", " + copies_of_term +
            " FROM muster.term WHERE " + is_of_this_database +
            " ORDER BY counter DESC, coordinator DESC LIMIT 1",
        {},
        [this](const Answer& answer) {
          if (answer.rows.empty()) return take_recorded();
          const auto copies = copies_in(answer.rows[0], 5);
          if (!copies) return fail(copies.error().what);
          if (const Term term = term_in(answer.rows[0]); holding_.term.group < term.group)
            take(term, *copies);
          take_recorded();
        },
        [this](const SqlError& error_of_table) {
          if (is_missing_table(error_of_table)) return take_recorded();
          fail("cannot read muster.term: " + error_of_table.what);
        });
  }

  // A log can go on beyond the timeline of its term: Muster promoted the node, and the node failed
  // before it marked its term, or somebody else promoted it. Nothing there was acknowledged,
  // and a greater position there does not make the log fresher than one that has what the primary
  // wrote meanwhile. So the holding ends where that timeline ended.
  void leave_out_fork() {
    core().term = holding_.term;
    if (holding_.term == Term{} || holding_.timeline <= holding_.term.timeline)
      return done(Seen{holding_, at_least_});
    const auto history = read_text(options().data / "pg_wal" / history_file(holding_.timeline));
    if (!history) return fail(history.error().what);
    const auto ends = ends_in(history->value_or(""));
    const auto end = ends.find(holding_.term.timeline);
    if (end != ends.end()) holding_.lsn = std::min(holding_.lsn, end->second);
    done(Seen{holding_, at_least_});
  }

  /// The last log file of the highest timeline. This file is used if the startup process waits for
  /// a file that does not exist.
  std::string last_log_file() {
    std::string last;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(options().data / "pg_wal", error)) {
      const std::string name = entry.path().filename().string();
      if (name.size() == 24) last = std::max(last, name);
    }
    return last;
  }

  Holding holding_;
  KnownTerms known_;
  bool is_marked_ = false;  ///< the log has a marker
  std::string database_;    ///< of the session; empty: no session is admitted
  std::optional<Held> at_least_;
};

}  // namespace

std::unique_ptr<OrderTask> make_task(const ShowConf&, Core& core, Tell tell) {
  return std::make_unique<ShowConfTask>(core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const CloseGate&, Core& core, Tell tell) {
  return std::make_unique<CloseGateTask>(core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const Look&, Core& core, Tell tell) {
  return std::make_unique<LookTask>(core, std::move(tell));
}

}  // namespace muster::postgres
