#pragma once

#include "apps/postgres/decide/values.hpp"
#include "apps/postgres/server/session.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// Values in the rows of an answer of PostgreSQL.

namespace muster::postgres {

/// The column of a row as a number; zero where it is none.
std::uint64_t number_in(const Row& row, std::size_t column);
/// As text; empty where it is NULL.
std::string text_in(const Row& row, std::size_t column);
bool is_true(const Row& row, std::size_t column);
/// The row of muster.term in the first five columns, which `columns_of_terms` names.
Term term_in(const Row& row);
inline constexpr const char* columns_of_terms = "counter, coordinator, node, timeline, lsn";
/// By which copies its primary acknowledges: NULL in what an earlier version has made.
inline constexpr const char* copies_of_term = "to_jsonb(term)->>'copies'";
/// None where it is NULL.
Expected<std::optional<Copies>> copies_in(const Row& row, std::size_t column);
/// muster.term is not there.
bool is_missing_table(const SqlError& error);

}  // namespace muster::postgres
