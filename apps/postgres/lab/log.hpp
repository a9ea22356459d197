#pragma once

#include "apps/postgres/decide/values.hpp"

#include <cstdint>
#include <optional>
#include <vector>

/// A log of PostgreSQL as a list of records: a position in it is their number.

namespace muster::postgres::lab {

using muster::operator==;

enum class Kind : std::uint8_t { row, commit, promotion, kick, shutdown };
MUSTER_DESCRIBE_ENUM(Kind, row, commit, promotion, kick, shutdown)

/// No two records are equal that were not written at the same moment.
struct Record {
  Kind kind{};
  NodeId by;
  std::uint32_t number{};      ///< of those that this node has written
  std::uint32_t timeline{};    ///< on which it was written
  GroupNumber group;           ///< of a row
  std::uint32_t generation{};  ///< of a row, of the list by which it was written
};
MUSTER_DESCRIBE(Record, kind, by, number, timeline, group, generation);

using Log = std::vector<Record>;

/// The timeline on which the log stands.
std::uint32_t timeline_of(const Log& log);
/// The greatest row among so many records.
Term term_of(const Log& log, std::uint32_t records);
/// Of the list by which that was written.
std::uint32_t generation_of(const Log& log, std::uint32_t records);
/// Of so many records.
Lineage lineage_of(const Log& log, std::uint32_t records);
/// True where a walsender with so many records would send to a standby with that log: by numbers
/// alone, as PostgreSQL does.
bool would_send(const Log& primary, std::uint32_t records, const Log& standby);
/// Where pg_rewind believes that two logs part: by the numbers of timelines alone.
std::uint32_t parting(const Log& source, const Log& target);
/// Where they really do.
std::uint32_t common(const Log& one, const Log& other);

}  // namespace muster::postgres::lab
