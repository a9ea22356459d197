#include "apps/postgres/server/standbys.hpp"

#include "apps/postgres/server/rows.hpp"

namespace muster::postgres {

void ask_for_impostors(Interview& interview, const Copies& copies,
                       std::vector<Impostor>& impostors) {
  interview.add(
      std::string("SELECT application_name, host(client_addr), pid FROM pg_stat_replication"
                  " WHERE state = 'streaming' AND application_name = ANY($1::text[])"
                  " AND NOT (application_name = $2 AND client_addr IS NULL) AND NOT ") +
          has_its_slot + " ORDER BY pid",
      {sql_array(standby_names(copies)), name_of_acknowledger},
      [&impostors](const std::vector<Row>& rows) {
        for (const Row& row : rows)
          impostors.push_back(
              {text_in(row, 0), text_in(row, 1), static_cast<std::int64_t>(number_in(row, 2))});
      });
}

void ask_for_foreign_names(Interview& interview, std::optional<std::string>& names) {
  interview.add(
      "SELECT setting FROM pg_settings WHERE name = 'synchronous_standby_names'"
      " AND source <> 'command line'",
      {}, [&names](const std::vector<Row>& rows) {
        if (!rows.empty()) names = text_in(rows[0], 0);
      });
}

}  // namespace muster::postgres
