#pragma once

#include "apps/postgres/decide/struck_lines.hpp"
#include "apps/postgres/decide/values.hpp"

#include <cstdint>
#include <optional>
#include <vector>

/// A log of PostgreSQL as a list of records. A position in it is a number of records.

namespace muster::postgres::lab {

using muster::operator==;

enum class Kind : std::uint8_t {
  marker,  ///< a message that marks the term of a group
  row,     ///< a row that Muster adds to the table
  rows,    ///< an administrator restores a dump: from here on, the table has this row only
  commit,
  promotion,
  kick,
  shutdown
};
MUSTER_DESCRIBE_ENUM(Kind, marker, row, rows, commit, promotion, kick, shutdown)

/// The author of a marker.
enum class Author : std::uint8_t {
  muster,
  forger,  ///< a role of the database, without the key
  copier   ///< a role of the database that wrote a valid marker again
};
MUSTER_DESCRIBE_ENUM(Author, muster, forger, copier)

/// Equal records in two logs are copies of one record.
struct Record {
  Kind kind{};
  NodeId by;
  std::uint32_t number{};      ///< counts the records that this node has written
  std::uint32_t timeline{};    ///< the timeline on which the record was written
  Term term{};                 ///< for a marker or a row
  std::uint32_t generation{};  ///< for a marker or a row: the list under which its group began
  Author author{};
  std::uint32_t at{};  ///< for a marker: the position that it names as its own
  /// For a marker: the author and the number of the record before that position. It stands for the
  /// digest of the log there.
  NodeId after;
  std::uint32_t after_number{};
  bool rows_ended{};  ///< for a marker: all nodes of the list read markers, so rows do not count
};
MUSTER_DESCRIBE(Record, kind, by, number, timeline, term, generation, author, at, after,
                after_number, rows_ended);

using Log = std::vector<Record>;

/// A term, and the list under which its group began.
struct Listed {
  Term term;
  std::uint32_t generation = 1;
};
MUSTER_DESCRIBE(Listed, term, generation);

/// The timeline at the end of the log.
std::uint32_t timeline_of(const Log& log);
/// The term of the log: the last that a primary has written there. Only the checks of the lab know
/// it for sure.
Term true_term_of(const Log& log);
/// True if a reader accepts the marker `record` at this position of the log.
bool is_valid(const Log& log, const Record& record, std::uint32_t at, const Struck& struck);
/// The marker that counts among the records from `kept` to `records`. None: there is none.
std::optional<Record> marker_in(const Log& log, std::uint32_t kept, std::uint32_t records,
                                const Struck& struck);
/// The table after the first `records` records.
std::vector<Listed> table_of(const Log& log, std::uint32_t records);
/// The greatest row of that table.
Listed greatest_row(const Log& log, std::uint32_t records);
/// True if the log has this position on this timeline.
bool has(const Log& log, std::uint32_t records, std::uint32_t timeline, Lsn lsn);
/// The lineage of the first `records` records, without its terms.
Lineage timelines_of(const Log& log, std::uint32_t records);
/// True if a walsender with so many records of `primary` would send to a standby with the log
/// `standby`. Like PostgreSQL, it compares only the numbers of timelines and positions.
bool would_send(const Log& primary, std::uint32_t records, const Log& standby);
/// The position where pg_rewind believes that two logs part. Like pg_rewind, it compares only the
/// numbers of timelines.
std::uint32_t parting(const Log& source, const Log& target);
/// The position where two logs really part.
std::uint32_t common(const Log& one, const Log& other);

}  // namespace muster::postgres::lab
