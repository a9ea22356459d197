#include "apps/postgres/commands/databases.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

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
      ask(node,
          "SELECT counter, coordinator FROM muster.term WHERE NOT pg_is_in_recovery()"
          " AND current_setting('synchronous_standby_names') IN ('" +
              names_text(Names::open, options_.copies()) + "'" +
              (options_.witnesses.empty() ? "" : ", ''") +
              ") ORDER BY counter DESC, coordinator DESC LIMIT 1");
  if (!answer || answer->rows.empty()) return std::nullopt;
  return GroupNumber{number_in(answer->rows[0], 0),
                     NodeId{static_cast<std::uint32_t>(number_in(answer->rows[0], 1))}};
}

SqlExpected<Written> Databases::written(NodeId node) {
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
