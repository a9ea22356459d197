#pragma once

#include "database.hpp"
#include "lineage.hpp"

#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// What is in `safe.sqlite`: whose it is, one record, the application's cells, and the last commit.

namespace muster::storage {

inline constexpr std::size_t page_size = 4096;
inline constexpr std::uint32_t application_id = 0x4D757374;  // "Must"
/// The version of all that this page says; PRAGMA user_version. In format 1 a record has no
/// instances, before format 3 a store has no lineage.
inline constexpr std::uint32_t format_version = 3;
inline constexpr std::uint32_t oldest_format = 1;

/// The checksum of a record or of an identity.
std::int64_t checksum_of(std::string_view bytes);
/// The checksum of a cell: a value under another cell's key does not pass.
std::int64_t checksum_of(std::string_view key, std::string_view value);

/// The bytes of a new store.
Expected<std::string> new_store(const Identity& identity);

/// Looks at the first bytes of a file: a store of ours, of a format that we know.
Expected<> check_header(const std::filesystem::path& file, std::string_view first_bytes);
/// True when the file says that it has a log: its own bytes alone may be an old state.
bool has_log(std::string_view first_bytes);

/// What the row of `identity` says.
struct Stamp {
  Identity identity;
  /// The size that the log has for good, in bytes: a shorter one is a part of one. 0 before there
  /// is a log.
  std::uint64_t log_bytes = 0;
};

/// Application, format, tables and stamp.
Expected<Stamp> read_stamp(Database& database);
Expected<> check_identity(const std::filesystem::path& file, const Identity& found,
                          const Identity& wanted);
/// Every page, the record, and every cell.
Expected<> check_contents(Database& database);
/// Notes the size of the log in the stamp.
Expected<> stamp_log(Database& database, const Identity& identity, std::uint64_t log_bytes);

Expected<std::uint32_t> read_format(Database& database);
Expected<SafeState> read_record(Database& database, Statement& select,
                                std::uint32_t format = format_version);
/// Makes a store of an older format one of this.
Expected<> migrate(Database& database, std::uint32_t from, const Lineage& lineage);

/// None before format 3.
Expected<std::optional<Lineage>> read_lineage(Database& database);

inline constexpr std::string_view select_record = "SELECT record, checksum FROM safe";
inline constexpr std::string_view update_record =
    "UPDATE safe SET record = ?1, checksum = ?2 WHERE one = 1";
inline constexpr std::string_view update_lineage =
    "UPDATE lineage SET of_commit = ?1 WHERE one = 1";
inline constexpr std::string_view select_cell = "SELECT value, checksum FROM cells WHERE key = ?1";
inline constexpr std::string_view select_cells =
    "SELECT key, value, checksum FROM cells WHERE key >= ?1 ORDER BY key";
inline constexpr std::string_view replace_cell =
    "INSERT INTO cells(key, value, checksum) VALUES(?1, ?2, ?3) "
    "ON CONFLICT(key) DO UPDATE SET value = ?2, checksum = ?3";
inline constexpr std::string_view erase_cell = "DELETE FROM cells WHERE key = ?1";

}  // namespace muster::storage
