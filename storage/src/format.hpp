#pragma once

#include "database.hpp"
#include "lineage.hpp"

#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The contents of `safe.sqlite`: its owner's identity, one record, the application's cells, and
/// the lineage of the last commit.

namespace muster::storage {

inline constexpr std::size_t page_size = 4096;
inline constexpr std::uint32_t application_id = 0x4D757374;  // "Must"
/// The version of the whole format, kept as PRAGMA user_version. In format 1 a record has no
/// instances. Before format 3 a store has no lineage.
inline constexpr std::uint32_t format_version = 3;
inline constexpr std::uint32_t oldest_format = 1;

/// The checksum of a record or of an identity.
std::int64_t checksum_of(std::string_view bytes);
/// The checksum of a cell. The checksum covers the key, so a value that is stored under another key
/// is detected.
std::int64_t checksum_of(std::string_view key, std::string_view value);

/// The bytes of the file of a new store.
Expected<std::string> new_store(const Identity& identity);

/// Checks by the first bytes that a file is a store of Muster, of a known format.
Expected<> check_header(const std::filesystem::path& file, std::string_view first_bytes);
/// True if the file is in write-ahead mode. In this mode the file without its log can contain an
/// old state.
bool has_log(std::string_view first_bytes);

/// The only row of the table `identity`.
struct Stamp {
  Identity identity;
  /// The reserved size of the log, in bytes. A log that is shorter is incomplete. 0 before the log
  /// exists.
  std::uint64_t log_bytes = 0;
};

/// Checks the application id, the format and the tables, and reads the stamp.
Expected<Stamp> read_stamp(Database& database);
Expected<> check_identity(const std::filesystem::path& file, const Identity& found,
                          const Identity& wanted);
/// Checks every page, the record and every cell.
Expected<> check_contents(Database& database);
/// Writes the size of the log into the stamp.
Expected<> stamp_log(Database& database, const Identity& identity, std::uint64_t log_bytes);

Expected<std::uint32_t> read_format(Database& database);
Expected<SafeState> read_record(Database& database, Statement& select,
                                std::uint32_t format = format_version);
/// Converts a store of an older format to the current one.
Expected<> migrate(Database& database, std::uint32_t from, const Lineage& lineage);

/// The lineage of the last commit; none before format 3.
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
