#include "apps/postgres/perform/clone.hpp"
#include "apps/postgres/perform/order_task.hpp"
#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/wal.hpp"

#include <muster/values/json.hpp>

#include <chrono>
#include <string>

/// Orders by which a node gets the log of another node.

namespace muster::postgres {
namespace {

class ReadLineageTask : public OrderTask {
 public:
  ReadLineageTask(const ReadLineage& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), of_(order.of), group_(order.group) {}

  void begin() override {
    ask_there(
        of_,
        std::string("SELECT CASE WHEN NOT pg_is_in_recovery()"
                    " THEN pg_walfile_name(pg_current_wal_lsn()) END, ") +
            known_terms_there + ", system_identifier FROM pg_control_system()",
        [this](const Answer& answer) { see(answer.rows.at(0)); }, try_later());
  }

 private:
  void see(const Row& row) {
    const std::string file = text_in(row, 0);
    const auto timeline = timeline_in(file);
    if (!timeline) return again([this] { begin(); });
    lineage_ = {};
    lineage_.timeline = *timeline;
    if (text_in(row, 1).empty()) return ask_for_rows();
    const auto theirs = known_terms_in(text_in(row, 1));
    if (!theirs) return fail("muster.terms of " + named(of_) + ": " + theirs.error().what);
    if (theirs->system != number_in(row, 2)) return again([this] { begin(); });
    const auto known = learn_terms(options(), *theirs);
    if (!known) return fail(known.error().what);
    lineage_.terms = terms_until(*known, group_);
    if (lineage_.terms.empty()) return again([this] { begin(); });
    ask_for_history(file.substr(0, 8));
  }

  // A node of an older version has only rows.
  void ask_for_rows() {
    ask_there(
        of_,
        std::string("SELECT ") + columns_of_terms +
            ", CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END"
            " FROM muster.term ORDER BY counter, coordinator",
        [this](const Answer& answer) { see_rows(answer.rows); }, try_later());
  }

  void see_rows(const std::vector<Row>& rows) {
    bool there = false;
    for (const Row& row : rows) {
      lineage_.terms.push_back(term_in(row));
      there = there || lineage_.terms.back().group == group_;
    }
    const std::string file = rows.empty() ? "" : text_in(rows.back(), 5);
    const auto timeline = timeline_in(file);
    if (!there || !timeline) return again([this] { begin(); });
    lineage_.timeline = *timeline;
    ask_for_history(file.substr(0, 8));
  }

  void ask_for_history(const std::string& timeline) {
    // Every timeline except the first has such a file.
    ask_there(
        of_, "SELECT pg_read_file('pg_wal/" + timeline + ".history', 0, 1048576, true)",
        [this](const Answer& answer) {
          lineage_.ends_of_timelines = ends_in(text_in(answer.rows.at(0), 0));
          if (lineage_.timeline > 1 && lineage_.ends_of_timelines.empty())
            return fail(named(of_) + " has no history file of its timeline in pg_wal");
          done(LineageRead{lineage_});
        },
        try_later());
  }

  // The primary may only be starting. If it refuses this node for longer, the reason is told.
  Otherwise try_later() {
    return [this](const SqlError& error) {
      if (std::chrono::steady_clock::now() < patient_until_) return again([this] { begin(); });
      fail("the PostgreSQL of " + named(of_) + " does not say which log it has: " + error.what);
    };
  }

  NodeId of_;
  GroupNumber group_;
  Lineage lineage_;
  const std::chrono::steady_clock::time_point patient_until_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(5);
};

class RewindTask : public OrderTask {
 public:
  RewindTask(const Rewind& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), from_(order.from) {}

  void begin() override {
    if (core().postmaster) return fail("PostgreSQL still runs, so its database cannot be rewound");
    // Muster shuts only standbys down in order for a rewind, so somebody else has promoted one that
    // was a primary. Its timeline may have the number of its source's timeline, and then pg_rewind
    // would say "no rewind required".
    const auto control = read_control_file(options().data);
    if (!control) return fail(control.error().what);
    if (control->is_shut_down_primary)
      return fail("somebody else has promoted the database, so it cannot be rewound");
    ask_there(from_, "SELECT pg_is_in_recovery()", [this](const Answer& answer) {
      if (is_true(answer.rows.at(0), 0))
        return fail(named(from_) + " is not a primary, so no database can be rewound to it");
      // Without a checkpoint the source's control file may still name its earlier timeline, and
      // pg_rewind would say "no rewind required".
      checkpoint_there(from_, [this](const Answer&) { rewind(); });
    });
  }

 private:
  void rewind() {
    // pg_rewind begins with a recovery, which would fail if the file `standby.signal` existed.
    if (!holds(remove_durably(options().data / "standby.signal"))) return;
    const std::string source =
        connection_text(options(), from_, "muster_rewind") + " dbname=" + options().database;
    run("pg_rewind", {"--target-pgdata", options().data.string(), "--source-server", source},
        [this] { done(Resynced{}); });
  }

  NodeId from_;
};

class CloneTask : public OrderTask {
 public:
  CloneTask(const Clone& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), from_(order.from), group_(order.group) {}

  void begin() override {
    if (core().postmaster)
      return fail("PostgreSQL still runs, so a clone cannot replace its database");
    if (!holds(finish_clone(options()))) return;
    // Removes the rest of an earlier attempt, if there is any.
    run("rm", {"-rf", part_path(options()).string(), rubbish_path(options()).string()},
        [this] { copy(); });
  }

 private:
  void copy() {
    run("pg_basebackup",
        {"--pgdata", part_path(options()).string(), "--dbname",
         connection_text(options(), from_, name_of_clone(options().node)), "--checkpoint=fast",
         "--wal-method=stream", "--no-password"},
        [this] { take_place(); });
  }

  // The record of the old data must not count for the clone: neither timelines nor positions show
  // to which of the two logs a record belongs. The source may have brought a record of its own.
  void take_place() {
    const auto system = system_identifier_in(part_path(options()));
    const auto known = read_known_terms(options(), system.value_or(0));
    if (!known) return fail(known.error().what);
    const auto record = brought_record(part_path(options()));
    if (!holds(remove_durably(record))) return;
    for (const Marker& each : known->markers) {
      if (each.term.group != group_ || group_ == GroupNumber{}) continue;
      const Held held{known->system, each.term, each.term.lsn, each.copies};
      if (!holds(write_durably(record, to_json(held) + "\n"))) return;
    }
    if (holds(complete_clone(options())) && holds(finish_clone(options()))) done(Resynced{});
  }

  const NodeId from_;
  const GroupNumber group_;
};

}  // namespace

std::unique_ptr<OrderTask> make_task(const ReadLineage& order, Core& core, Tell tell) {
  return std::make_unique<ReadLineageTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const Rewind& order, Core& core, Tell tell) {
  return std::make_unique<RewindTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const Clone& order, Core& core, Tell tell) {
  return std::make_unique<CloneTask>(order, core, std::move(tell));
}

}  // namespace muster::postgres
