#include "apps/postgres/commands/databases.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/rows.hpp"
#include "apps/postgres/server/standbys.hpp"

namespace muster::postgres {

SqlExpected<Answer> Databases::ask(NodeId node, const std::string& statement, Duration bound) {
  std::optional<SqlExpected<Answer>> answer;
  auto& session = sessions_[node];
  const auto put = [&] {
    session->ask(statement, {}, bound, [&](auto came) { answer.emplace(std::move(came)); });
  };
  if (session && session->idle()) {
    put();
  } else {
    session.emplace(context_.get_executor(), session_parameters(options_, node));
    session->connect(std::chrono::seconds(2), [&](auto connected) {
      if (connected) return put();
      answer.emplace(connected.error());
    });
  }
  while (!answer) {
    context_.restart();
    context_.run_one();
  }
  if (!*answer) session.reset();
  return *std::move(answer);
}

std::optional<GroupNumber> Databases::is_open_for(NodeId node) {
  const auto answer =
      ask(node, std::string("SELECT split_part(slot_name, '_', 2), split_part(slot_name, '_', 3)"
                            " FROM pg_replication_slots WHERE starts_with(slot_name, '") +
                    slots_begin_with + "') AND NOT pg_is_in_recovery() AND ((" + shows_alone +
                    ") OR (SELECT count(DISTINCT application_name) FROM pg_stat_replication"
                    " WHERE application_name = ANY('" +
                    sql_array(standby_names(options_.copies())) + "'::text[]) AND " + has_its_slot +
                    ") >= " + std::to_string(options_.copies_of_commit - 1) + ") LIMIT 1");
  if (!answer || answer->rows.empty()) return std::nullopt;
  return GroupNumber{number_in(answer->rows[0], 0),
                     NodeId{static_cast<std::uint32_t>(number_in(answer->rows[0], 1))}};
}

SqlExpected<Written> Databases::written(NodeId node) {
  const auto there = ask(node, std::string("SELECT ") + known_terms_there);
  if (!there) return there.error();
  const std::string text = text_in(there->rows.at(0), 0);
  if (text.empty()) return written_in_rows(node);
  const auto known = known_terms_in(text);
  if (!known) return SqlError{"muster.terms: " + known.error().what, ""};
  if (known->markers.empty()) return Written{};
  const Marker& last = known->markers.back();
  return Written{last.term.group.counter > 0, last.copies};
}

// A node of an older version has only rows.
SqlExpected<Written> Databases::written_in_rows(NodeId node) {
  const auto answer = ask(node, std::string("SELECT counter > 0, ") + copies_of_term +
                                    " FROM muster.term"
                                    " ORDER BY counter DESC, coordinator DESC LIMIT 1");
  if (!answer) return answer.error();
  if (answer->rows.empty()) return Written{};
  const auto copies = copies_in(answer->rows[0], 1);
  if (!copies) return SqlError{copies.error().what, ""};
  return Written{is_true(answer->rows[0], 0), *copies};
}

}  // namespace muster::postgres
