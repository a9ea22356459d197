#include "format.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace muster::storage {

namespace {

// The schema exactly as SQLite stores it. A file with any other or further text is not a store.
constexpr std::string_view tables[] = {
    "CREATE TABLE identity(one INTEGER PRIMARY KEY CHECK(one = 1), cluster TEXT NOT NULL, "
    "node INTEGER NOT NULL, log_bytes INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT",
    "CREATE TABLE safe(one INTEGER PRIMARY KEY CHECK(one = 1), record BLOB NOT NULL, "
    "checksum INTEGER NOT NULL) STRICT",
    "CREATE TABLE cells(key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL, "
    "checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE lineage(one INTEGER PRIMARY KEY CHECK(one = 1), of_commit BLOB NOT NULL) STRICT",
};
constexpr std::size_t tables_before_format_3 = 3;

constexpr std::string_view insert_lineage = "INSERT INTO lineage(one, of_commit) VALUES(1, ?1)";

// Free pages in a new file. A definition of the usual size fits into these pages, so that the file
// does not grow.
constexpr int reserved_pages = 32;

constexpr std::string_view file_magic("SQLite format 3\0", 16);
constexpr std::size_t header_size = 100;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::int64_t checksum_of_stamp(const Identity& identity, std::uint64_t log_bytes) {
  return checksum_of(identity.cluster + '\n' + std::to_string(identity.node.value) + '\n' +
                     std::to_string(log_bytes));
}

Failure foreign(const std::filesystem::path& file) {
  return refused(file, "is not a store of Muster: name another directory as the node's data");
}

Failure damaged(const std::filesystem::path& file, const std::string& what) {
  return refused(
      file, "is corrupt (" + what +
                "): move its directory away, then restore it or start the node with --initialise");
}

// True if integrity_check reports a page that could not be read. The report lists such pages among
// the corrupt ones.
bool tells_of_io_error(std::string_view verdict) {
  constexpr std::string_view code_follows = "error code=";
  if (verdict.find("failed to get page") != std::string_view::npos) return true;
  const std::size_t at = verdict.find(code_follows);
  if (at == std::string_view::npos) return false;
  const std::string code(verdict.substr(at + code_follows.size(), 8));
  return (std::strtol(code.c_str(), nullptr, 10) & 0xFF) == SQLITE_IOERR;
}

std::filesystem::path file_of(const Database& database) {
  const char* name = sqlite3_db_filename(database.handle(), "main");
  return name ? name : "";
}

Expected<> begin_lineage(Database& database, const Lineage& lineage) {
  auto insert = database.prepare(insert_lineage);
  if (!insert) return insert.error();
  const std::string bytes = stored(lineage);
  insert->bind(1, bytes);
  if (insert->step() != SQLITE_DONE) return database.failure("write");
  return {};
}

Expected<> check_format(const std::filesystem::path& file, std::uint32_t version) {
  if (version > format_version)
    return refused(file, "has format " + std::to_string(version) + ", this program knows " +
                             std::to_string(format_version) + ": start the newer program");
  if (version < oldest_format)
    return damaged(file, "format " + std::to_string(version) + " never existed");
  return {};
}

}  // namespace

std::int64_t checksum_of(std::string_view bytes) {
  return static_cast<std::int64_t>(digest(bytes).value);
}

std::int64_t checksum_of(std::string_view key, std::string_view value) {
  return checksum_of(encode(std::pair(digest(key), digest(value))));
}

Expected<std::string> new_store(const Identity& identity) {
  auto database = Database::in_memory();
  if (!database) return database.error();
  std::string script = "PRAGMA page_size = " + std::to_string(page_size) +
                       "; PRAGMA auto_vacuum = NONE; PRAGMA encoding = 'UTF-8';" +
                       "PRAGMA application_id = " + std::to_string(application_id) +
                       "; PRAGMA user_version = " + std::to_string(format_version) + "; BEGIN;";
  for (const std::string_view table : tables) script += std::string(table) + ";";
  script += "CREATE TABLE reserve(filler BLOB); INSERT INTO reserve VALUES(zeroblob(" +
            std::to_string(reserved_pages * static_cast<int>(page_size)) +
            ")); DROP TABLE reserve;";
  if (auto done = database->run(script.c_str()); !done) return done.error();
  auto stamp = database->prepare(
      "INSERT INTO identity(one, cluster, node, log_bytes, checksum) VALUES(1, ?1, ?2, 0, ?3)");
  if (!stamp) return stamp.error();
  stamp->bind_text(1, identity.cluster)
      .bind(2, std::int64_t{identity.node.value})
      .bind(3, checksum_of_stamp(identity, 0));
  if (stamp->step() != SQLITE_DONE) return database->failure("make");
  auto safe = database->prepare("INSERT INTO safe(one, record, checksum) VALUES(1, ?1, ?2)");
  if (!safe) return safe.error();
  const std::string record = encode(SafeState{});
  safe->bind(1, record).bind(2, checksum_of(record));
  if (safe->step() != SQLITE_DONE) return database->failure("make");
  if (auto done = begin_lineage(*database, new_lineage()); !done) return done.error();
  if (auto done = database->run("COMMIT"); !done) return done.error();
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(
      sqlite3_serialize(database->handle(), "main", &size, 0), sqlite3_free);
  if (!bytes) return database->failure("make");
  return std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
}

Expected<> check_header(const std::filesystem::path& file, std::string_view first_bytes) {
  if (first_bytes.empty()) return damaged(file, "it is empty");
  if (!first_bytes.starts_with(file_magic.substr(0, first_bytes.size()))) return foreign(file);
  if (first_bytes.size() < header_size) return damaged(file, "it is truncated");
  if (big_endian(first_bytes, 68) != application_id) return foreign(file);
  return check_format(file, big_endian(first_bytes, 60));
}

bool has_log(std::string_view first_bytes) {
  return first_bytes.size() > 19 && first_bytes[18] == 2 && first_bytes[19] == 2;
}

Expected<Stamp> read_stamp(Database& database) {
  const std::filesystem::path file = file_of(database);
  auto schema = database.prepare("SELECT sql FROM sqlite_schema ORDER BY rowid");
  if (!schema) return schema.error();
  std::vector<std::string> found;
  int code = 0;
  while ((code = schema->step()) == SQLITE_ROW) found.emplace_back(schema->text(0));
  if (code != SQLITE_DONE) return database.failure("read");
  auto format = read_format(database);
  if (!format) return format.error();
  const std::size_t known = *format < 3 ? tables_before_format_3 : std::size(tables);
  if (!std::equal(found.begin(), found.end(), std::begin(tables), std::begin(tables) + known))
    return damaged(file, "its tables are not those of a store of Muster");
  auto select = database.prepare("SELECT cluster, node, log_bytes, checksum FROM identity");
  if (!select) return select.error();
  code = select->step();
  if (code == SQLITE_DONE) return damaged(file, "its identity is missing");
  if (code != SQLITE_ROW) return database.failure("read");
  Stamp stamp;
  stamp.identity.cluster = select->text(0);
  stamp.identity.node.value = static_cast<std::uint32_t>(select->number(1));
  stamp.log_bytes = static_cast<std::uint64_t>(select->number(2));
  if (select->number(3) != checksum_of_stamp(stamp.identity, stamp.log_bytes) ||
      select->number(1) != std::int64_t{stamp.identity.node.value})
    return damaged(file, "the checksum of the identity is wrong");
  return stamp;
}

Expected<> check_identity(const std::filesystem::path& file, const Identity& found,
                          const Identity& wanted) {
  if (found.cluster == wanted.cluster && found.node == wanted.node) return {};
  const auto name = [](const Identity& identity) {
    return "node " + std::to_string(identity.node.value) + " of cluster \"" + identity.cluster +
           "\"";
  };
  return refused(file, "belongs to " + name(found) + ", not to " + name(wanted) +
                           ": name another directory as the node's data");
}

Expected<> check_contents(Database& database) {
  const std::filesystem::path file = file_of(database);
  auto verdict = database.ask("PRAGMA integrity_check(1)");
  if (!verdict) return verdict.error();
  if (*verdict != "ok") {
    std::replace(verdict->begin(), verdict->end(), '\n', ' ');
    return tells_of_io_error(*verdict) ? io_failure("read", file, *verdict)
                                       : damaged(file, *verdict);
  }
  auto format = read_format(database);
  if (!format) return format.error();
  auto select = database.prepare(select_record);
  if (!select) return select.error();
  if (auto record = read_record(database, *select, *format); !record) return record.error();
  auto cells = database.prepare("SELECT key, value, checksum FROM cells");
  if (!cells) return cells.error();
  int code = 0;
  while ((code = cells->step()) == SQLITE_ROW)
    if (cells->number(2) != checksum_of(cells->blob(0), cells->blob(1)))
      return damaged(file, "the checksum of a cell is wrong");
  if (code != SQLITE_DONE) return database.failure("read");
  return {};
}

Expected<> stamp_log(Database& database, const Identity& identity, std::uint64_t log_bytes) {
  auto update = database.prepare("UPDATE identity SET log_bytes = ?1, checksum = ?2 WHERE one = 1");
  if (!update) return update.error();
  update->bind(1, static_cast<std::int64_t>(log_bytes))
      .bind(2, checksum_of_stamp(identity, log_bytes));
  if (update->step() != SQLITE_DONE) return database.failure("write");
  return {};
}

// Reads the number of the format from the database, including its log. The first bytes of the file
// alone may still contain an older number.
Expected<std::uint32_t> read_format(Database& database) {
  auto select = database.prepare("PRAGMA user_version");
  if (!select) return select.error();
  if (select->step() != SQLITE_ROW) return database.failure("read");
  const auto format = static_cast<std::uint32_t>(select->number(0));
  if (auto known = check_format(file_of(database), format); !known) return known.error();
  return format;
}

Expected<SafeState> read_record(Database& database, Statement& select, std::uint32_t format) {
  const ResetAfter reset(select);
  const int code = select.step();
  if (code == SQLITE_DONE) return damaged(file_of(database), "its record is missing");
  if (code != SQLITE_ROW) return database.failure("read");
  if (select.number(1) != checksum_of(select.blob(0)))
    return damaged(file_of(database), "the checksum of its record is wrong");
  std::string record(select.blob(0));
  if (format < 2) record += encode(SafeState{}.instances);
  auto safe = decode<SafeState>(record, {.foreign = false});
  if (!safe) return damaged(file_of(database), "its record is invalid: " + safe.error().what);
  return safe;
}

Expected<> migrate(Database& database, std::uint32_t from, const Lineage& lineage) {
  auto select = database.prepare(select_record);
  if (!select) return select.error();
  const auto safe = read_record(database, *select, from);
  if (!safe) return safe.error();
  auto update = database.prepare(update_record);
  if (!update) return update.error();
  const std::string record = encode(*safe);
  update->bind(1, record).bind(2, checksum_of(record));
  if (update->step() != SQLITE_DONE) return database.failure("write");
  const std::string script = std::string(tables[tables_before_format_3]) +
                             "; PRAGMA user_version = " + std::to_string(format_version);
  if (auto done = database.run(script.c_str()); !done) return done.error();
  return begin_lineage(database, lineage);
}

Expected<std::optional<Lineage>> read_lineage(Database& database) {
  auto format = read_format(database);
  if (!format) return format.error();
  if (*format < 3) return std::optional<Lineage>();
  auto select = database.prepare("SELECT of_commit FROM lineage");
  if (!select) return select.error();
  const int code = select->step();
  if (code != SQLITE_ROW && code != SQLITE_DONE) return database.failure("read");
  auto lineage = code == SQLITE_ROW ? lineage_of(select->blob(0)) : std::nullopt;
  if (!lineage) return damaged(file_of(database), "its lineage is invalid");
  return lineage;
}

}  // namespace muster::storage
