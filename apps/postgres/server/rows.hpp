#pragma once

#include "apps/postgres/decide/values.hpp"
#include "apps/postgres/server/session.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// Reads values from the rows of PostgreSQL's answers.

namespace muster::postgres {

/// A column as a number. Zero: it is not a number.
std::uint64_t number_in(const Row& row, std::size_t column);
/// A column as text. Empty if it is NULL.
std::string text_in(const Row& row, std::size_t column);
bool is_true(const Row& row, std::size_t column);
/// Reads a row of muster.term from the first five columns, which `columns_of_terms` names.
Term term_in(const Row& row);
inline constexpr const char* columns_of_terms = "counter, coordinator, node, timeline, lsn";
/// The SQL expression for the list under which the primary acknowledged commits. Its value is NULL
/// in a table that an earlier version made.
inline constexpr const char* copies_of_term = "to_jsonb(term)->>'copies'";
/// The SQL condition on a row of muster.term that no other database has written it. Rows of earlier
/// versions do not say which database has written them.
inline constexpr const char* is_of_this_database =
    "coalesce((to_jsonb(term)->>'system')::numeric ="
    " (SELECT system_identifier FROM pg_control_system()), true)";
/// An SQL condition: the table muster.term or its schema belongs to a role that is no superuser, or
/// the table is none, or runs code of its own. A session of Muster, which is a superuser's, must
/// not touch it then. Neither must a session in the database from which all others are made.
inline constexpr const char* table_is_of_others =
    "(current_database() = 'template1' OR EXISTS (SELECT FROM pg_namespace JOIN pg_roles AS r ON "
    "r.oid = nspowner"
    " WHERE nspname = 'muster' AND NOT rolsuper) OR"
    " EXISTS (SELECT FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace"
    " JOIN pg_roles AS r ON r.oid = relowner WHERE nspname = 'muster' AND relname = 'term' AND"
    " (NOT rolsuper OR relkind <> 'r' OR relhastriggers OR relhasrules OR relrowsecurity)))";
inline constexpr const char* why_not_touched =
    "the database postgres admits no session, or it does and the table, or the schema muster, "
    "belongs to another role or is no plain table: drop it then";
/// An SQL condition: the table muster.term is there, with all its columns.
inline constexpr const char* table_is_there =
    "EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('muster.term')"
    " AND attname = 'system')";
/// Reads a list from a column. Returns nothing if the column is NULL.
Expected<std::optional<Copies>> copies_in(const Row& row, std::size_t column);
/// Asks for the first error in the settings files because of which PostgreSQL applies no setting at
/// all. A value that is wrong, or that needs a restart, is no such error.
inline constexpr const char* errors_in_files =
    "SELECT sourcefile || ' line ' || sourceline || ': ' || error FROM pg_file_settings"
    " WHERE error <> 'setting could not be applied' ORDER BY seqno LIMIT 1";
/// True if the error means that the table muster.term does not exist.
bool is_missing_table(const SqlError& error);

}  // namespace muster::postgres
