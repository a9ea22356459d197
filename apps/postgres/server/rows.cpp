#include "apps/postgres/server/rows.hpp"

#include "apps/base/text.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

namespace muster::postgres {

std::uint64_t number_in(const Row& row, std::size_t column) {
  return apps::parse_number(text_in(row, column)).value_or(0);
}

std::string text_in(const Row& row, std::size_t column) {
  return column < row.size() ? row[column].value_or("") : "";
}

bool is_true(const Row& row, std::size_t column) {
  return text_in(row, column) == "t";
}

Term term_in(const Row& row) {
  Term term;
  term.group.counter = number_in(row, 0);
  term.group.coordinator.value = static_cast<std::uint32_t>(number_in(row, 1));
  term.node.value = static_cast<std::uint32_t>(number_in(row, 2));
  term.timeline = static_cast<std::uint32_t>(number_in(row, 3));
  term.lsn = parse_lsn(text_in(row, 4)).value_or(Lsn{});
  return term;
}

Expected<std::optional<Copies>> copies_in(const Row& row, std::size_t column) {
  if (!row.at(column)) return std::optional<Copies>();
  boost::json::error_code error;
  const auto value = boost::json::parse(*row[column], error);
  if (error) return Failure{ExitCode::storage_refused, "muster.term: " + error.message()};
  const auto copies = read_json_of_any_version<Copies>(value);
  if (!copies) return Failure{ExitCode::storage_refused, "muster.term: " + copies.error().what};
  return std::optional(*copies);
}

bool is_missing_table(const SqlError& error) {
  return error.state == "42P01" || error.state == "3F000";
}

}  // namespace muster::postgres
