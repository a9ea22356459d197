#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/perform/order_task.hpp"
#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/wal.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

/// Orders by which a node becomes the primary of its group, or a copy of that primary.

namespace muster::postgres {
namespace {

class PromoteTask : public OrderTask {
 public:
  using OrderTask::OrderTask;

  void begin() override {
    if (!core().refused_because.empty()) return promote_without_session();
    ask("SELECT pg_is_in_recovery()", {}, [this](const Answer& answer) {
      if (!is_true(answer.rows.at(0), 0)) return done(Promoted{});
      ask("SELECT pg_promote(wait => false)", {}, [this](const Answer&) { await(); });
    });
  }

 private:
  // As pg_ctl does. A server that has been promoted admits sessions, whatever kept it from doing so
  // as a standby.
  void promote_without_session() {
    if (!holds(write_durably(options().data / "promote", ""))) return;
    ::kill(core().postmaster->pid(), SIGUSR1);
    await_session();
  }

  void await_session() {
    if (!takes_connections(options().data, core().postmaster->pid()))
      return again([this] { await_session(); });
    ask_on_new_connection(
        "SELECT", {}, [this](const Answer&) { await(); },
        [this](const SqlError&) { again([this] { await_session(); }); });
  }

  void await() {
    ask("SELECT pg_is_in_recovery()", {}, [this](const Answer& answer) {
      if (!is_true(answer.rows.at(0), 0)) return done(Promoted{});
      again([this] { await(); });
    });
  }
};

// The order is: the marker, the row while rows still count, the record of the term, and last the
// slots, without which no standby can connect. Each slot is named after its group and its node.
// There is no other slot of Muster: a seal drops all of them, and so does the start of the server.
// So only a standby that knows this group can connect. A standby that still follows in an earlier
// group is not served. If it were served, the primary could count a standby as a copy although no
// election has told that standby of this group. Marker and row are committed locally, without
// waiting for copies. A transaction that waits for copies is visible to no session. A standby that
// waits for the row before it counts would wait for ever.
class WriteMarkerTask : public OrderTask {
 public:
  WriteMarkerTask(const WriteMarker& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), group_(order.group) {
    std::vector<std::string> slots;
    for (const auto& [node, address] : options().nodes)
      if (node != options().node) slots.push_back(slot_of(group_, node));
    slots_ = sql_array(slots);
  }

  void begin() override {
    ask("SELECT system_identifier, left(pg_walfile_name(pg_current_wal_flush_lsn()), 8),"
        " pg_current_wal_flush_lsn() FROM pg_control_system()",
        {}, [this](const Answer& answer) { see(answer.rows.at(0)); });
  }

 private:
  void see(const Row& row) {
    const auto at = parse_lsn(text_in(row, 2));
    const auto timeline = timeline_in(text_in(row, 1));
    if (!at || !timeline) return fail("PostgreSQL does not report the position of its WAL");
    auto known = read_known_terms(options(), number_in(row, 0));
    if (!known) return fail(known.error().what);
    known_ = *std::move(known);
    if (marker_.term == Term{}) name_term(*timeline, *at);
    if (options().marker_keys.empty()) return look_for_table();
    mark(*at);
  }

  // If `start` comes again with the same group, the term is the same.
  void name_term(std::uint32_t timeline, Lsn at) {
    const Term before = core().term.value_or(Term{});
    const auto same =
        std::find_if(known_.markers.begin(), known_.markers.end(),
                     [this](const Marker& each) { return each.term.group == group_; });
    if (before.group == group_ && same != known_.markers.end())
      marker_ = *same;
    else
      marker_ = {{group_, options().node, timeline, at},
                 before.group,
                 options().copies(),
                 false,
                 seconds_since_1970()};
    marker_.rows_ended = known_.rows_ended;
  }

  void mark(Lsn at) {
    const auto place = place_at(options().data / "pg_wal", marker_.term.timeline, at);
    if (!place) return fail(place.error().what);
    if (is_early_in_its_file(*place) && !std::exchange(has_written_, true))
      return ask(write_a_record, {}, [this](const Answer&) { begin(); });
    const MarkedDatabase database{options().cluster, known_.system};
    ask("SELECT pg_logical_emit_message(true, $1, $2)",
        {std::string(prefix_of_messages),
         text_of_marker(options().marker_keys, database, marker_, *place, known_.signs)},
        [this, at](const Answer& answer) {
          // A marker that is too far behind its place does not count. It has flushed the log, so
          // the next one is nearer to its place.
          const auto end = parse_lsn(text_in(answer.rows.at(0), 0));
          if (!end || end->value - at.value > longest_way_to_marker) return begin();
          if (known_.rows_ended) return learn_term();
          look_for_table();
        });
  }

  void look_for_table() {
    ask(std::string("SELECT to_regclass('muster.term') IS NOT NULL, ") + table_is_there + ", " +
            table_is_of_others,
        {}, [this](const Answer& answer) {
          if (is_true(answer.rows.at(0), 2))
            return fail(std::string("the table muster.term cannot be written: ") + why_not_touched);
          if (!is_true(answer.rows.at(0), 0)) return create();
          if (is_true(answer.rows.at(0), 1)) return write_row();
          ask(add_columns, {}, [this](const Answer&) { write_row(); });
        });
  }

  void create() {
    ask(make_schema, {},
        [this](const Answer&) { ask(make_table, {}, [this](const Answer&) { write_row(); }); });
  }

  void write_row() {
    ask(row_statement(marker_), {}, [this](const Answer&) { read_rows(); });
  }

  // Rows that an older version has written are known from now on, so that markers can follow them.
  // The table may lack terms, as after a restored dump, so it does not say what was before a
  // marker.
  void read_rows() {
    ask(std::string("SELECT ") + columns_of_terms + ", " + copies_of_term +
            ", extract(epoch FROM at)::bigint FROM muster.term WHERE " + is_of_this_database +
            " ORDER BY counter, coordinator",
        {}, [this](const Answer& answer) {
          GroupNumber before;
          for (const Row& row : answer.rows) {
            const auto copies = copies_in(row, 5);
            if (!copies) return fail(copies.error().what);
            const Term term = term_in(row);
            const Marker marker{term, before, *copies, false, number_in(row, 6)};
            if (term.group == group_) marker_.term = term;
            if (term.group < group_) rows_.markers.push_back(marker);
            before = term.group;
          }
          learn_term();
        });
  }

  void learn_term() {
    rows_.markers.push_back(marker_);
    rows_.system = known_.system;
    // Other nodes may read what is known. So the record comes first.
    if (!holds(record_term(known_.system, marker_))) return;
    if (const auto known = learn_terms(options(), rows_); !known) return fail(known.error().what);
    core().term = marker_.term;
    create_slots();
  }

  void create_slots() {
    ask("SELECT count(pg_create_physical_replication_slot(name)), pg_current_wal_flush_lsn()"
        " FROM unnest($1::text[]) AS name"
        " WHERE name NOT IN (SELECT slot_name FROM pg_replication_slots)",
        {slots_}, [this](const Answer& answer) {
          done(MarkerWritten{marker_.term,
                             parse_lsn(text_in(answer.rows.at(0), 1)).value_or(Lsn{})});
        });
  }

  const GroupNumber group_;
  std::string slots_;
  KnownTerms known_;
  KnownTerms rows_;
  Marker marker_;
  bool has_written_ = false;  ///< a record came before the marker
};

/// Finds out whether the primary has removed log that this standby needs next. A standby that
/// streams needs nothing more. Any other needs the file of its last position, on any timeline.
class LogNeededTask : public OrderTask {
 public:
  LogNeededTask(NodeId of, Core& core, Tell tell) : OrderTask(core, std::move(tell)), of_(of) {}

 protected:
  /// Ends the order with `LogGone`, or calls `otherwise`.
  void look_for_log(const std::function<void()>& otherwise) {
    look_at_own_log(
        [this, otherwise](const OwnLog& log) {
          if (log.streams) return otherwise();
          if (!log.is_standby) return is_promoted();
          ask_for_oldest(log.end, otherwise);
        },
        [otherwise](const SqlError&) { otherwise(); });
  }

 private:
  void is_promoted() {
    core().log(
        "somebody else has promoted the PostgreSQL of this node: what was written there is "
        "ignored, and the database is cloned");
    done(NoStandby{});
  }

  void ask_for_oldest(Lsn needed, const std::function<void()>& otherwise) {
    ask_there(
        of_,
        "SELECT min(('x' || substr(name, 9, 8))::bit(32)::bigint * 4294967296 +"
        " ('x' || substr(name, 17, 8))::bit(32)::bigint *"
        " pg_size_bytes(current_setting('wal_segment_size')))"
        " FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' AND NOT pg_is_in_recovery()",
        [this, needed, otherwise](const Answer& answer) {
          if (number_in(answer.rows.at(0), 0) <= needed.value) return otherwise();
          core().log(named(of_) +
                     " has removed WAL that this node needs next: its database is cloned; the key "
                     "wal_keep sets how much WAL is kept");
          done(LogGone{});
        },
        [otherwise](const SqlError&) { otherwise(); });
  }

  NodeId of_;
};

/// Waits until the part of the log that the node's own server has flushed has the marker, or, while
/// rows still count, until the server shows the row.
class AwaitMarkerTask : public LogNeededTask {
 public:
  AwaitMarkerTask(const AwaitMarker& order, Core& core, Tell tell)
      : LogNeededTask(order.of, core, std::move(tell)), of_(order.of), group_(order.group) {}

  // Meanwhile the node learns from its primary which terms it has missed. If it becomes primary, it
  // has to know them, as otherwise a node that has such a term would be cloned.
  void begin() override {
    ask_there(
        of_, std::string("SELECT ") + known_terms_there,
        [this](const Answer& answer) {
          if (const auto known = known_terms_in(text_in(answer.rows.at(0), 0))) theirs_ = *known;
        },
        [](const SqlError&) {});
    look();
  }

 private:
  void look() {
    look_at_own_log([this](const OwnLog& log) { see(log); });
  }

  void see(const OwnLog& log) {
    const auto known = read_known_terms(options(), log.system);
    if (!known) return fail(known.error().what);
    if (log.flushed != Lsn{} && log.flushed != read_) {
      const auto marker =
          greatest_marker(options().data / "pg_wal", options().marker_keys,
                          {options().cluster, known->system}, log.timeline, log.flushed);
      if (!marker) return fail(marker.error().what);
      if (*marker && (*marker)->term.group == group_) {
        KnownTerms news = theirs_.system == known->system ? theirs_ : KnownTerms{};
        news.system = known->system;
        learn(news, {known->system, (*marker)->rows_ended, {**marker}});
        if (const auto learned = learn_terms(options(), news); !learned)
          return fail(learned.error().what);
        return has_come(known->system, **marker);
      }
      read_ = log.flushed;
    }
    if (known->rows_ended || !core().refused_because.empty()) return look_again();
    look_for_row(known->system);
  }

  void look_for_row(std::uint64_t system) {
    ask(
        std::string("SELECT ") + columns_of_terms + ", " + copies_of_term +
            " FROM muster.term WHERE counter = $1::bigint AND coordinator = $2::bigint AND " +
            is_of_this_database,
        {std::to_string(group_.counter), std::to_string(group_.coordinator.value)},
        [this, system](const Answer& answer) {
          if (answer.rows.empty()) return look_again();
          const auto copies = copies_in(answer.rows[0], 5);
          if (!copies) return fail(copies.error().what);
          has_come(system, {term_in(answer.rows[0]), {}, *copies});
        },
        [this](const SqlError& error) {
          if (is_missing_table(error)) return look_again();
          fail("cannot read muster.term: " + error.what);
        });
  }

  void has_come(std::uint64_t system, const Marker& marker) {
    if (holds(record_term(system, marker))) done(MarkerHeld{});
  }

  // The marker usually comes within milliseconds. If it does not, there is time.
  void look_again() {
    const bool has_session = core().refused_because.empty();
    if (has_session && std::chrono::steady_clock::now() < until_) return again([this] { look(); });
    patient_.wait(std::chrono::milliseconds(250), [this, has_session] {
      if (!has_session) return look_for_log([this] { look_at_keys_there(); });
      look_for_errors_in_files([this] { look_for_log([this] { look_at_keys_there(); }); });
    });
  }

  void look_at_keys_there() {
    ask_there(
        of_, std::string("SELECT ") + marker_keys_there,
        [this](const Answer& answer) {
          const std::string theirs = text_in(answer.rows.at(0), 0);
          if (theirs.empty() || options().marker_keys.have_one_of(theirs)) return look();
          fail(
              "this node cannot read the markers of " + named(of_) +
              ", which has another marker key: copy the file that marker_key names from there, and "
              "restart this node");
        },
        [this](const SqlError&) { look(); });
  }

  const NodeId of_;
  const GroupNumber group_;
  KnownTerms theirs_;
  Lsn read_;  ///< up to here the log has no marker of the group
  Pause patient_{core().executor};
  const std::chrono::steady_clock::time_point until_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(2);
};

class AwaitLogGoneTask : public LogNeededTask {
 public:
  AwaitLogGoneTask(const AwaitLogGone& order, Core& core, Tell tell)
      : LogNeededTask(order.of, core, std::move(tell)), of_(order.of) {}

  void begin() override {
    pause_.wait(std::chrono::seconds(2), [this] {
      const auto look = [this] { look_for_log([this] { look_at_settings(); }); };
      if (core().refused_because.empty()) return look();
      ask_on_new_connection(
          "SELECT", {}, [look](const Answer&) { look(); }, [look](const SqlError&) { look(); });
    });
  }

 private:
  // If the primary has greater values of these settings, replay pauses until the standby starts
  // again. A start takes the greater values (begin.cpp).
  void look_at_settings() {
    if (!core().refused_because.empty()) return begin();
    ask(
        "SELECT name, setting FROM pg_settings WHERE name = ANY($1::text[])"
        " AND pg_is_in_recovery() AND pg_get_wal_replay_pause_state() = 'paused'",
        {sql_array(settings_of_primary)}, [this](const Answer& answer) { see(answer.rows); },
        [this](const SqlError&) { begin(); });
  }

  void see(const std::vector<Row>& rows) {
    const auto control = read_control_file(options().data);
    for (const Row& row : rows) {
      const auto wanted = control ? control->of_primary.at(text_in(row, 0)) : 0;
      if (number_in(row, 1) >= wanted) continue;
      core().log("replay is paused, because " + text_in(row, 0) + " is " + text_in(row, 1) +
                 " here and " + std::to_string(wanted) + " at " + named(of_) +
                 ": PostgreSQL starts again with the value from there");
      return core().postmaster->shut_down_fast();
    }
    begin();
  }

  const NodeId of_;
  Pause pause_{core().executor};
};

class CheckpointTask : public OrderTask {
 public:
  using OrderTask::OrderTask;
  void begin() override {
    // Uses a connection of its own, since a checkpoint may take long.
    checkpoint_there(options().node, [this](const Answer&) { done(Checkpointed{}); });
  }
};

}  // namespace

std::unique_ptr<OrderTask> make_task(const Promote&, Core& core, Tell tell) {
  return std::make_unique<PromoteTask>(core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const WriteMarker& order, Core& core, Tell tell) {
  return std::make_unique<WriteMarkerTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const AwaitMarker& order, Core& core, Tell tell) {
  return std::make_unique<AwaitMarkerTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const AwaitLogGone& order, Core& core, Tell tell) {
  return std::make_unique<AwaitLogGoneTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const Checkpoint&, Core& core, Tell tell) {
  return std::make_unique<CheckpointTask>(core, std::move(tell));
}

}  // namespace muster::postgres
