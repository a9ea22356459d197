#include "apps/postgres/perform/order_task.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/wal.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

/// Orders by which a node becomes the primary of its group.

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
    core().postmaster->promote();
    await_session();
  }

  void await_session() {
    if (!takes_connections(options().data, core().postmaster->pid()))
      return again([this] { await_session(); });
    ask_on_new_connection(
        "SELECT", {}, [this](const Answer&) { await(); },
        [this](const SqlError& error) { take_refusal(error); });
  }

  // A primary that admits no session cannot mark its term.
  void take_refusal(const SqlError& error) {
    const auto now = std::chrono::steady_clock::now();
    if (process_called(options().data, "startup")) patient_until_ = now + patience_with_primary;
    if (now > patient_until_)
      return fail("PostgreSQL admits no session of its node: " + error.what);
    again([this] { await_session(); });
  }

  static constexpr Duration patience_with_primary = std::chrono::seconds(3);
  std::chrono::steady_clock::time_point patient_until_ =
      std::chrono::steady_clock::now() + patience_with_primary;

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
    core().term = marker_.term;
    create_slots();
    // This writes to the disk while PostgreSQL makes the slots.
    if (const auto known = learn_terms(options(), rows_); !known) fail(known.error().what);
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
std::unique_ptr<OrderTask> make_task(const Checkpoint&, Core& core, Tell tell) {
  return std::make_unique<CheckpointTask>(core, std::move(tell));
}

}  // namespace muster::postgres
