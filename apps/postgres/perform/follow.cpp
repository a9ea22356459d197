#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/perform/clone.hpp"
#include "apps/postgres/perform/order_task.hpp"
#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/marker.hpp"

#include <chrono>
#include <string>
#include <vector>

/// Orders by which a node becomes a copy of the primary of its group, and stays one.

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration between_looks_for_log = 2s;

/// Finds out whether the primary has removed log that this standby needs next. A standby that
/// streams needs nothing more. Any other needs the file of its last position, on any timeline.
class LogNeededTask : public OrderTask {
 public:
  LogNeededTask(NodeId of, Core& core, Tell tell) : OrderTask(core, std::move(tell)), of_(of) {}

 protected:
  /// Tries to get a session again, and then calls `then`.
  void try_session(const std::function<void()>& then) {
    ask_on_new_connection(
        "SELECT", {}, [then](const Answer&) { then(); }, [then](const SqlError&) { then(); });
  }

  /// Calls `is_gone`, `is_promoted` or `otherwise`, or ends a server whose replay is paused.
  void look_for_log(const std::function<void()>& otherwise) {
    if (core().refused_because.empty())
      look_at_settings([this, otherwise] { look_at_log(otherwise); });
    else
      look_at_log(otherwise);
  }

  [[nodiscard]] NodeId of() const { return of_; }

  virtual void is_promoted(const std::string& why) {
    core().log(why);
    done(NoStandby{});
  }
  virtual void is_gone(const std::string& why) {
    core().log(why);
    done(LogGone{});
  }

 private:
  // If the primary has greater values of these settings, replay pauses until the standby starts
  // again. A start takes the greater values (begin.cpp). Meanwhile the standby may receive nothing,
  // as it moves to no other timeline.
  void look_at_settings(const std::function<void()>& otherwise) {
    ask(
        "SELECT name, setting FROM pg_settings WHERE name = ANY($1::text[])"
        " AND pg_is_in_recovery() AND pg_get_wal_replay_pause_state() = 'paused'",
        {sql_array(settings_of_primary)},
        [this, otherwise](const Answer& answer) { see_settings(answer.rows, otherwise); },
        [otherwise](const SqlError&) { otherwise(); });
  }

  void see_settings(const std::vector<Row>& rows, const std::function<void()>& otherwise) {
    const auto control = read_control_file(options().data);
    for (const Row& row : rows) {
      const auto wanted = control ? control->of_primary.at(text_in(row, 0)) : 0;
      if (number_in(row, 1) >= wanted) continue;
      core().log("replay is paused, because " + text_in(row, 0) + " is " + text_in(row, 1) +
                 " here and " + std::to_string(wanted) + " at " + named(of_) +
                 ": PostgreSQL starts again with the value from there");
      return core().postmaster->shut_down_fast();  // the keeper starts it again
    }
    otherwise();
  }

  void look_at_log(const std::function<void()>& otherwise) {
    look_at_own_log(
        [this, otherwise](const OwnLog& log) {
          if (log.streams) return otherwise();
          if (!log.is_standby)
            return is_promoted(
                "somebody else has promoted the PostgreSQL of this node: its commits "
                "since then are ignored, and the database is cloned");
          ask_for_oldest(log.end, otherwise);
        },
        [otherwise](const SqlError&) { otherwise(); });
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
          is_gone(named(of_) +
                  " has removed WAL that this node needs next: its database is cloned; the key "
                  "wal_keep sets how much WAL is kept");
        },
        [otherwise](const SqlError&) { otherwise(); });
  }

  const NodeId of_;
};

/// Waits until the part of the log that the node's own server has flushed has the marker, or, while
/// rows still count, until the server shows the row.
class AwaitMarkerTask : public LogNeededTask {
 public:
  AwaitMarkerTask(const AwaitMarker& order, Core& core, Tell tell)
      : LogNeededTask(order.of, core, std::move(tell)), group_(order.group) {}

  // Meanwhile the node learns from its primary which terms it has missed. If it becomes primary, it
  // has to know them, as otherwise a node that has such a term would be cloned.
  void begin() override {
    ask_there(
        of(), std::string("SELECT ") + known_terms_there,
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
        core().news = theirs_.system == known->system ? theirs_ : KnownTerms{};
        core().news.system = known->system;
        learn(core().news, {known->system, (*marker)->rows_ended, {**marker}});
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
    const auto now = std::chrono::steady_clock::now();
    if (has_session && now < until_) return again([this] { look(); });
    patient_.wait(250ms, [this, has_session, now] {
      if (has_session)
        return look_for_errors_in_files([this] { look_for_log([this] { look_at_keys_there(); }); });
      if (now < next_try_) return look();
      next_try_ = now + between_looks_for_log;
      try_session([this] { look_for_log([this] { look_at_keys_there(); }); });
    });
  }

  void look_at_keys_there() {
    ask_there(
        of(), std::string("SELECT ") + marker_keys_there,
        [this](const Answer& answer) {
          const std::string theirs = text_in(answer.rows.at(0), 0);
          if (theirs.empty() || options().marker_keys.have_one_of(theirs)) return look();
          fail(
              "this node cannot read the markers of " + named(of()) +
              ", which has another marker key: copy the file that marker_key names from there, and "
              "restart this node");
        },
        [this](const SqlError&) { look(); });
  }

  const GroupNumber group_;
  KnownTerms theirs_;
  Lsn read_;  ///< up to here the log has no marker of the group
  Pause patient_{core().executor};
  std::chrono::steady_clock::time_point next_try_;  ///< of a session, if none was admitted
  const std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + 2s;
};

class AwaitLogGoneTask : public LogNeededTask {
 public:
  AwaitLogGoneTask(const AwaitLogGone& order, Core& core, Tell tell)
      : LogNeededTask(order.of, core, std::move(tell)) {}

  void begin() override {
    if (!holds(learn_news())) return;
    pause_.wait(between_looks_for_log, [this] {
      const auto look = [this] { look_for_log([this] { begin(); }); };
      if (core().refused_because.empty()) return look();
      try_session(look);
    });
  }

 private:
  Pause pause_{core().executor};
};

class AwaitStreamingTask : public LogNeededTask {
 public:
  using LogNeededTask::LogNeededTask;

  void begin() override { look(); }

 private:
  // Until this order ends, the former data counts as a copy. To stream for a moment is not enough:
  // the primary may remove log that a slow standby needs next.
  void look() {
    look_at_own_log(
        [this](const OwnLog& log) {
          if (log.streams && goal_ && log.flushed >= *goal_) return tidy_up();
          if (log.streams && !goal_) return ask_for_goal();
          look_again();
        },
        [this](const SqlError&) { look_again(); });
  }

  void ask_for_goal() {
    ask_there(
        of(), "SELECT pg_current_wal_flush_lsn() WHERE NOT pg_is_in_recovery()",
        [this](const Answer& answer) {
          if (!answer.rows.empty()) goal_ = parse_lsn(text_in(answer.rows[0], 0));
          look_again();
        },
        [this](const SqlError&) { look_again(); });
  }

  void look_again() {
    if (std::chrono::steady_clock::now() < next_) return again([this] { look(); });
    next_ = std::chrono::steady_clock::now() + between_looks_for_log;
    look_for_log([this] { again([this] { look(); }); });
  }

  void is_gone(const std::string& why) override { fail(why); }
  void is_promoted(const std::string& why) override { fail(why); }

  void tidy_up() {
    std::vector<std::string> rest;
    for (const auto& path : {old_path(options()), rubbish_path(options())}) {
      if (std::filesystem::exists(path)) rest.push_back(path.string());
    }
    if (rest.empty()) return done(Streams{});
    rest.insert(rest.begin(), "-rf");
    run("rm", rest, [this] { done(Streams{}); });
  }

  std::optional<Lsn> goal_;  ///< the end of the primary's log when this node was seen to stream
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + between_looks_for_log;
};

}  // namespace

std::unique_ptr<OrderTask> make_task(const AwaitMarker& order, Core& core, Tell tell) {
  return std::make_unique<AwaitMarkerTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const AwaitLogGone& order, Core& core, Tell tell) {
  return std::make_unique<AwaitLogGoneTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const AwaitStreaming&, Core& core, Tell tell) {
  return std::make_unique<AwaitStreamingTask>(core.conf->follows.value(), core, std::move(tell));
}

}  // namespace muster::postgres
