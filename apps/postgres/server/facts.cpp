#include "apps/postgres/server/facts.hpp"

#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/rows.hpp"
#include "apps/postgres/server/standbys.hpp"

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration patience_with_server = 5s;

}  // namespace

FactsRead::FactsRead(const Executor& executor, const InstanceOptions& options,
                     std::function<void(Expected<Facts>)> then)
    : executor_(executor),
      options_(options),
      known_(read_known_terms(options, system_identifier_in(options.data).value_or(0))),
      then_(std::move(then)),
      interview_(executor, parameters_of_a_client(options), patience_with_server) {
  facts_.databases = options_.nodes.size();
  facts_.witness = !options_.witnesses.empty();
  facts_.copies = options_.copies_of_commit;
  facts_.has_marker_key = !options_.marker_keys.empty();
  facts_.rows_ended = known_ && known_->rows_ended;
  interview_.add("SELECT current_setting('server_version_num'), pg_is_in_recovery()", {},
                 [this](const std::vector<Row>& rows) {
                   facts_.version = static_cast<std::uint32_t>(number_in(rows.at(0), 0));
                   facts_.standby = is_true(rows.at(0), 1);
                   if (facts_.version / 10000 == 15) ask_for_the_rest();
                 });
  interview_.begin([this](const SqlExpected<>& heard) {
    if (!heard) return fail(heard.error().what);
    if (!known_) return end(known_.error());
    // A standby's control file contains the settings that its primary sent last.
    if (facts_.standby && !facts_.settings.empty()) {
      const auto control = read_control_file(options_.data);
      if (!control) return end(control.error());
      facts_.least = control->of_primary;
    }
    end(facts_);
  });
}

void FactsRead::ask_for_the_rest() {
  // The settings of roles and databases are read below.
  interview_.add(
      "SELECT name, setting FROM pg_settings WHERE name = ANY($1::text[])"
      " AND source NOT IN ('global', 'database', 'user', 'database user')",
      {sql_array(settings_looked_at)}, [this](const std::vector<Row>& rows) {
        for (const Row& row : rows) facts_.settings[text_in(row, 0)] = text_in(row, 1);
      });
  ask_for_foreign_names(interview_, facts_.foreign_names);
  interview_.add(errors_in_files, {}, [this](const std::vector<Row>& rows) {
    if (!rows.empty()) facts_.file_error = text_in(rows[0], 0);
  });
  // If several lines set one setting, the last line counts at the next reload.
  interview_.add(
      "SELECT DISTINCT ON (name) name, sourcefile || ' line ' || sourceline FROM pg_file_settings"
      " WHERE name = ANY($1::text[]) ORDER BY name, seqno DESC",
      {sql_array(settings_of_muster)}, [this](const std::vector<Row>& rows) {
        for (const Row& row : rows) facts_.places[text_in(row, 0)] = text_in(row, 1);
      });
  interview_.add(
      "SELECT quote_ident(r.rolname), quote_ident(d.datname), split_part(c, '=', 2)"
      " FROM pg_db_role_setting LEFT JOIN pg_roles r ON r.oid = setrole"
      " LEFT JOIN pg_database d ON d.oid = setdatabase, unnest(setconfig) AS c"
      " WHERE split_part(c, '=', 1) = 'synchronous_commit' ORDER BY 1, 2",
      {}, [this](const std::vector<Row>& rows) {
        for (const Row& row : rows)
          facts_.synchronous_commit.push_back({text_in(row, 0), text_in(row, 1), text_in(row, 2)});
      });
  interview_.add(
      "SELECT quote_ident(rolname), rolsuper FROM pg_roles WHERE (rolsuper OR rolreplication)"
      " AND rolcanlogin AND rolname <> current_user ORDER BY 1",
      {}, [this](const std::vector<Row>& rows) {
        for (const Row& row : rows) facts_.replicates.push_back({text_in(row, 0), is_true(row, 1)});
      });
  if (!facts_.standby) return ask_for_followers();
  interview_.add(
      "SELECT CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() END", {},
      [this](const std::vector<Row>& rows) { facts_.replay_paused = is_true(rows.at(0), 0); });
  interview_.add(
      "SELECT slot_name FROM pg_replication_slots WHERE NOT active AND slot_name !~ '^muster_'"
      " ORDER BY 1",
      {}, [this](const std::vector<Row>& rows) {
        for (const Row& row : rows) facts_.unread_slots.push_back(text_in(row, 0));
      });
}

void FactsRead::ask_for_followers() {
  const std::string names = sql_array(standby_names(options_.copies()));
  interview_.add(shows_alone, {}, [this](const std::vector<Row>& rows) {
    facts_.alone = facts_.witness && is_true(rows.at(0), 0);
  });
  interview_.add(
      std::string("SELECT count(DISTINCT application_name) FROM pg_stat_replication"
                  " WHERE state = 'streaming' AND application_name = ANY($1::text[]) AND ") +
          has_its_slot +
          " HAVING EXISTS (SELECT FROM pg_replication_slots WHERE starts_with(slot_name, $2))",
      {names, slots_begin_with}, [this](const std::vector<Row>& rows) {
        if (!rows.empty()) facts_.followers = number_in(rows.front(), 0);
      });
  ask_for_impostors(interview_, options_.copies(), facts_.impostors);
}

void FactsRead::fail(const std::string& why) {
  end(Failure{ExitCode::unreachable, "cannot read the settings of node " +
                                         std::to_string(options_.node.value) +
                                         "'s PostgreSQL: " + why});
}

void FactsRead::end(Expected<Facts> outcome) {
  const auto then = std::exchange(then_, nullptr);  // the callee may destroy this object
  then(std::move(outcome));
}

}  // namespace muster::postgres
