#include "apps/postgres/watch/marking.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"
#include "apps/postgres/server/wal.hpp"

#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr Duration patience = 5s;
constexpr Duration between_questions_to_others = 5s;
constexpr Duration between_looks_at_view = 5s;

}  // namespace

Marking::Marking(const Executor& executor, InstanceOptions options,
                 std::function<void(const std::string&)> tell,
                 std::function<void(const std::string&)> is_silent)
    : executor_(executor),
      options_(std::move(options)),
      tell_(std::move(tell)),
      is_silent_(std::move(is_silent)),
      pause_(executor),
      silence_(executor) {}

void Marking::begin() {
  if (options_.marker_keys.empty()) return;
  next_others_ = next_view_ = {};
  listen();
  keys_.clear();
  pause_.wait({}, [this] { look(); });  // the view gets the row of the new term soon
}

void Marking::stop() {
  pause_.stop();
  silence_.stop();
  session_.reset();
  other_.reset();
}

// A server whose disk is frozen, or whose processes are paused, commits nothing, but its standbys
// notice nothing.
void Marking::listen() {
  silence_.wait(options_.longest_silence, [this] {
    listen();
    is_silent_("the primary's PostgreSQL has written nothing to its disk for " +
               muster::to_text(options_.longest_silence));
  });
}

void Marking::rest() {
  pause_.wait(options_.marks_every, [this] { look(); });
}

void Marking::look() {
  at_view_ = false;
  ask("SELECT system_identifier, pg_current_wal_flush_lsn(),"
      " left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) FROM pg_control_system()"
      " WHERE NOT pg_is_in_recovery()",
      {}, [this](const std::vector<Row>& rows) {
        if (rows.empty()) return rest();
        see(number_in(rows[0], 0), parse_lsn(text_in(rows[0], 1)).value_or(Lsn{}),
            timeline_in(text_in(rows[0], 2)).value_or(0));
      });
}

void Marking::see(std::uint64_t system, Lsn at, std::uint32_t timeline) {
  auto known = read_known_terms(options_, system);
  if (!known) return fail(known.error().what);
  known_ = *std::move(known);
  if (known_.markers.empty()) return read_own_log(at, timeline);
  if (known_.markers.back().term.node != options_.node) return rest();
  Marker marker = known_.markers.back();
  marker.rows_ended = known_.rows_ended;
  mark(marker, at);
}

// Somebody has removed muster.terms.
void Marking::read_own_log(Lsn at, std::uint32_t timeline) {
  const auto marker = greatest_marker(options_.data / "pg_wal", options_.marker_keys,
                                      {options_.cluster, known_.system}, timeline, at);
  if (!marker) return fail(marker.error().what);
  if (!*marker) return rest();
  const auto learned = learn_terms(options_, {known_.system, (*marker)->rows_ended, {**marker}});
  if (!learned) return fail(learned.error().what);
  tell_("the file muster.terms was gone: it is begun again from the log of this node");
  rest();
}

void Marking::mark(const Marker& marker, Lsn at) {
  const MarkedDatabase database{options_.cluster, known_.system};
  const auto place = place_at(options_.data / "pg_wal", marker.term.timeline, at);
  if (!place) return fail(place.error().what);
  if (is_early_in_its_file(*place) && !std::exchange(has_written_, true))
    return ask(write_a_record, {}, [this](const auto&) { look(); });
  has_written_ = false;
  ask("SELECT pg_logical_emit_message(true, $1, $2)",
      {std::string(prefix_of_messages),
       text_of_marker(options_.marker_keys, database, marker, *place, known_.signs)},
      [this, at](const std::vector<Row>& rows) {
        // A marker that is too far behind its place does not count. It has flushed the log, so the
        // next one is nearer to its place.
        const auto end = parse_lsn(text_in(rows.at(0), 0));
        if (!end || end->value - at.value > longest_way_to_marker) return look();
        if (!told_of_view_) told_.clear();
        listen();
        if (wants_keys_of_others() && Clock::now() > next_others_) {
          NodeSet others = options_.copies().nodes;
          others.erase(options_.node);
          return ask_others(std::move(others));
        }
        if (known_.rows_ended && Clock::now() > next_view_) return look_at_view();
        rest();
      });
}

// --- Which keys the other nodes have

bool Marking::wants_keys_of_others() const {
  const auto names = options_.marker_keys.names();
  return !known_.rows_ended || (names.size() > 1 && known_.signs != names.front());
}

void Marking::ask_others(NodeSet left) {
  if (left.empty()) return hear_of_keys();
  const NodeId node = *left.begin();
  left.erase(node);
  const auto next = [this, left = std::move(left)](const std::string& keys, NodeId of) {
    if (!keys.empty()) keys_[of] = keys;
    ask_others(left);
  };
  other_.reset();
  other_.emplace(executor_, session_parameters(options_, node));
  other_->connect(patience, [this, node, next](const auto& connected) {
    if (!connected) return next("", node);
    other_->ask(std::string("SELECT ") + marker_keys_there, {}, patience,
                [node, next](const auto& answer) {
                  next(answer ? text_in(answer->rows.at(0), 0) : "", node);
                });
  });
}

void Marking::hear_of_keys() {
  next_others_ = Clock::now() + between_questions_to_others;
  const auto all_have = [this](const std::string& name) {
    return std::all_of(options_.nodes.begin(), options_.nodes.end(), [&](const auto& node) {
      const auto shown = keys_.find(node.first);
      return node.first == options_.node ||
             (shown != keys_.end() && shows_key(shown->second, name));
    });
  };
  const auto names = options_.marker_keys.names();
  if (names.size() > 1 && known_.signs != names.front() && all_have(names.front())) {
    if (const auto learned = learn_terms(options_, {known_.system, false, {}, names.front()});
        !learned)
      return fail(learned.error().what);
    tell_(
        "all nodes have the first marker key of this node: it signs from now on, and once they all "
        "follow, the other keys can be removed from the files");
  }
  if (is_open_ && !known_.rows_ended && all_have(names.back())) {
    if (const auto learned = learn_terms(options_, {known_.system, true, {}}); !learned)
      return fail(learned.error().what);
    tell_(
        "all nodes read markers: from now on rows of the table muster.term decide nothing, and "
        "older versions of muster cannot take part");
  }
  rest();
}

// --- The view

// Somebody else may own the schema or the table, lock the table, or have triggers in it. Then this
// session, which is a superuser's, must not run what they have written, and must not wait.
void Marking::look_at_view() {
  next_view_ = Clock::now() + between_looks_at_view;
  at_view_ = true;
  ask(std::string("SELECT set_config('lock_timeout', '2s', false),"
                  " set_config('statement_timeout', '4s', false), ") +
          table_is_of_others + ", " + table_is_there,
      {}, [this](const std::vector<Row>& rows) {
        if (is_true(rows.at(0), 2)) return fail(why_not_touched);
        if (!is_true(rows.at(0), 3)) return restore_view();
        compare_view();
      });
}

void Marking::compare_view() {
  ask(std::string("SELECT ") + columns_of_terms + " FROM muster.term ORDER BY counter, coordinator",
      {}, [this](const std::vector<Row>& rows) {
        const auto terms = terms_until(known_, known_.markers.back().term.group);
        std::vector<Term> shown;
        for (const Row& row : rows) shown.push_back(term_in(row));
        if (shown == terms) return rest();
        const bool grows =
            shown.size() < terms.size() && std::equal(shown.begin(), shown.end(), terms.begin());
        if (grows) return insert_into_view();
        restore_view();
      });
}

void Marking::restore_view() {
  tell_(
      "the table muster.term does not show what this node knows, as after a restored dump: it is "
      "made again; no decision depends on it");
  put({make_schema, make_table, add_columns, "DELETE FROM muster.term"},
      [this] { insert_into_view(); });
}

void Marking::insert_into_view() {
  std::vector<std::string> statements;
  const auto terms = terms_until(known_, known_.markers.back().term.group);
  for (const Marker& marker : known_.markers)
    if (std::find(terms.begin(), terms.end(), marker.term) != terms.end())
      statements.push_back(row_statement(marker));
  put(std::move(statements), [this] { rest(); });
}

void Marking::put(std::vector<std::string> statements, std::function<void()> then) {
  if (statements.empty()) return then();
  const std::string first = statements.front();
  statements.erase(statements.begin());
  ask(first, {}, [this, statements = std::move(statements), then = std::move(then)](const auto&) {
    put(statements, then);
  });
}

// --- Questions to the own server

void Marking::ask(const std::string& statement, std::vector<std::string> parameters, Then then) {
  const auto put = [this, statement, parameters = std::move(parameters), then = std::move(then)] {
    session_->ask(statement, parameters, patience, [this, then](const auto& answer) {
      if (!answer) return fail(answer.error().what);
      then(answer->rows);
    });
  };
  if (session_ && session_->idle()) return put();
  session_.reset();
  session_.emplace(executor_, session_parameters(options_, options_.node));
  session_->connect(patience, [this, put](const auto& connected) {
    if (!connected) return fail(connected.error().what);
    put();
  });
}

void Marking::fail(const std::string& why) {
  told_of_view_ = at_view_;
  if (std::exchange(told_, why) != why)
    tell_((at_view_ ? "the table muster.term cannot show which groups have written, which changes "
                      "no decision: "
                    : "the marker of this primary cannot be written: ") +
          why);
  pause_.wait(options_.marks_every, [this] {
    session_.reset();
    look();
  });
}

}  // namespace muster::postgres
