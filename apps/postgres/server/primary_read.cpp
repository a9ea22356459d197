#include "apps/postgres/server/primary_read.hpp"

#include "apps/base/text.hpp"
#include "apps/postgres/server/rows.hpp"

#include <algorithm>

namespace muster::postgres {
namespace {

// Its socket is not for everybody who may ask.
Session::Parameters at_its_address(InstanceOptions options, NodeId primary) {
  options.node = {};
  return session_parameters(options, primary);
}

std::optional<std::uint64_t> bytes_in(const Row& row, std::size_t column) {
  if (!row.at(column)) return std::nullopt;
  return number_in(row, column);
}

/// "muster_clone_n2"
NodeId node_of_clone(const std::string& name) {
  const auto number = apps::parse_number(name.substr(name_of_clone({}).size() - 1));
  return {static_cast<std::uint32_t>(number.value_or(0))};
}

}  // namespace

PrimaryRead::PrimaryRead(const Executor& executor, InstanceOptions options, NodeId primary,
                         Duration bound, std::function<void(SqlExpected<PrimarySaid>)> then)
    : interview_(executor, at_its_address(options, primary), bound) {
  const bool witness = !options.witnesses.empty();
  // All rows of its timeline are its own, from its promotion on.
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
  interview_.add(
      "SELECT application_name, state = 'streaming',"
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
  interview_.begin([this, then = std::move(then)](const SqlExpected<>& heard) {
    if (!heard) return then(heard.error());
    then(std::move(said_));
  });
}

}  // namespace muster::postgres
