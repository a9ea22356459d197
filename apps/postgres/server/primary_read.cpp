#include "apps/postgres/server/primary_read.hpp"

#include "apps/base/text.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/rows.hpp"
#include "apps/postgres/server/standbys.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace muster::postgres {
namespace {

// Uses the network address, since a user with the right to ask may have no access to PostgreSQL's
// socket.
Session::Parameters at_its_address(InstanceOptions options, NodeId primary) {
  options.node = {};
  return session_parameters(options, primary);
}

std::optional<std::uint64_t> bytes_in(const Row& row, std::size_t column) {
  if (!row.at(column)) return std::nullopt;
  return number_in(row, column);
}

/// The node in a name such as "muster_clone_n2".
NodeId node_of_clone(const std::string& name) {
  const auto number = apps::parse_number(name.substr(name_of_clone({}).size() - 1));
  return {static_cast<std::uint32_t>(number.value_or(0))};
}

std::string time_text(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  std::array<char, sizeof "2026-11-26T21:30:54Z"> text{};
  if (::gmtime_r(&time, &parts) == nullptr ||
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    return "";
  return text.data();
}

}  // namespace

PrimaryRead::PrimaryRead(const Executor& executor, InstanceOptions options, NodeId primary,
                         Duration bound, std::function<void(SqlExpected<PrimarySaid>)> then)
    : interview_(executor, at_its_address(options, primary), bound) {
  const bool witness = !options.witnesses.empty();
  interview_.add(std::string("SELECT ") + known_terms_there, {},
                 [this](const std::vector<Row>& rows) {
                   const std::string text = text_in(rows.at(0), 0);
                   if (text.empty()) return ask_for_row();
                   if (const auto known = known_terms_in(text)) take(*known);
                 });
  interview_.add(
      std::string("SELECT application_name, state = 'streaming' AND (") + has_its_slot +
          " OR application_name ~ '^mend_'),"
          " greatest(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), flush_lsn), 0)::bigint,"
          " greatest(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), replay_lsn), 0)::bigint"
          " FROM pg_stat_replication WHERE application_name ~ '^(mend_)?n[0-9]+$' ORDER BY 1",
      {}, [this](const std::vector<Row>& rows) {
        for (const Row& row : rows)
          said_.standbys.push_back(
              {text_in(row, 0), is_true(row, 1), bytes_in(row, 2), bytes_in(row, 3)});
      });
  interview_.add(
      "SELECT application_name, backup_streamed,"
      " (SELECT sum(pg_tablespace_size(oid))::bigint FROM pg_tablespace)"
      " FROM pg_stat_progress_basebackup JOIN pg_stat_activity USING (pid)"
      " WHERE application_name ~ '^muster_clone_n[0-9]+$'",
      {}, [this](const std::vector<Row>& rows) {
        for (const Row& row : rows)
          said_.clones.push_back(
              {node_of_clone(text_in(row, 0)), number_in(row, 1), number_in(row, 2)});
      });
  interview_.add(shows_alone, {}, [this, witness](const std::vector<Row>& rows) {
    said_.alone = witness && is_true(rows.at(0), 0);
  });
  ask_for_impostors(interview_, options.copies(), said_.impostors);
  ask_for_foreign_names(interview_, said_.foreign_names);
  interview_.begin([this, then = std::move(then)](const SqlExpected<>& heard) {
    if (!heard) return then(heard.error());
    then(std::move(said_));
  });
}

void PrimaryRead::take(const KnownTerms& known) {
  if (known.markers.empty()) return;
  const Marker& last = known.markers.back();
  said_.term = last.term;
  said_.copies = last.copies;
  // All terms of this timeline are of this primary, since its promotion.
  const auto first =
      std::find_if(known.markers.begin(), known.markers.end(),
                   [&](const auto& each) { return each.term.timeline == last.term.timeline; });
  said_.since = time_text(first->written);
}

// A node of an older version has only rows.
void PrimaryRead::ask_for_row() {
  interview_.add(
      std::string("SELECT ") + columns_of_terms +
          ", to_char((SELECT min(at) FROM muster.term AS own WHERE own.timeline = term.timeline)"
          " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), " +
          copies_of_term + " FROM muster.term ORDER BY counter DESC, coordinator DESC LIMIT 1",
      {}, [this](const std::vector<Row>& rows) {
        if (rows.empty()) return;
        said_.term = term_in(rows[0]);
        said_.since = text_in(rows[0], 5);
        if (const auto copies = copies_in(rows[0], 6)) said_.copies = *copies;
      });
}

}  // namespace muster::postgres
