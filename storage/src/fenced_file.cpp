#include "fenced_file.hpp"

#include "directory.hpp"
#include "format.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

#include <cerrno>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

namespace muster::storage {

namespace {

constexpr std::int64_t fenced_application_id = 0x4D757346;  // "MusF"
constexpr std::int64_t fenced_format = 1;                   // PRAGMA user_version

// The schema exactly as SQLite stores it. A file with any other or further text is not a fenced
// store.
constexpr std::string_view fenced_tables[] = {
    "CREATE TABLE fences(name TEXT PRIMARY KEY NOT NULL, counter INTEGER NOT NULL, "
    "coordinator INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE cells(name TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, "
    "checksum INTEGER NOT NULL, PRIMARY KEY(name, key)) STRICT, WITHOUT ROWID",
};

Failure unsound(const std::filesystem::path& file, const std::string& what) {
  return refused(file,
                 "is corrupt (" + what +
                     "): move it and all files that begin with its name away, then restore it");
}

// Nothing has been changed yet, so an error that SQLite finds in the file is a refusal.
Failure look_failure(const Database& database, const std::filesystem::path& file) {
  switch (sqlite3_errcode(database.handle()) & 0xFF) {
    case SQLITE_NOTADB:
      return refused(file, "is not a fenced store: name another file");
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_ERROR:
      return unsound(file, sqlite3_errmsg(database.handle()));
    default:
      return database.failure("read");
  }
}

// Makes the file in write-ahead mode from the beginning. So there is never a rollback journal that
// could hide the log.
Expected<std::string> new_fenced_store() {
  auto database = Database::in_memory();
  if (!database) return database.error();
  std::string script =
      "PRAGMA page_size = 4096; PRAGMA auto_vacuum = NONE;"
      "PRAGMA encoding = 'UTF-8'; PRAGMA application_id = " +
      std::to_string(fenced_application_id) +
      "; PRAGMA user_version = " + std::to_string(fenced_format) + ";";
  for (const std::string_view table : fenced_tables) script += std::string(table) + ";";
  if (auto done = database->run(script.c_str()); !done) return done.error();
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(
      sqlite3_serialize(database->handle(), "main", &size, 0), sqlite3_free);
  if (!bytes) return database->failure("make");
  std::string image(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
  constexpr std::size_t write_version = 18;
  constexpr std::size_t read_version = 19;
  image[write_version] = image[read_version] = 2;
  return image;
}

// Refuses a log without its file: SQLite would apply it to a new store.
Expected<> check_no_log(Files& files, const std::filesystem::path& file) {
  std::filesystem::path log = file;
  log += "-wal";
  auto left = look_at_own(files, log);
  if (!left) return left.error();
  if (!*left) return {};
  auto there = look_at_own(files, file);  // another process can have made and opened the file since
  if (!there) return there.error();
  if (*there) return {};
  return refused(file, "is missing, but " + log.filename().string() +
                           " exists: restore the missing file, or move the other away too");
}

// Makes a store atomically: at any moment there is either no store or a complete one. If several
// processes make it at once, the first one wins.
Expected<> make_where_there_is_none(Files& files, const std::filesystem::path& file) {
  auto there = look_at_own(files, file);
  if (!there) return there.error();
  if (*there) return {};
  if (auto none = check_no_log(files, file); !none) return none.error();
  auto image = new_fenced_store();
  if (!image) return image.error();
  std::filesystem::path fresh = file;
  fresh += ".new." + std::to_string(::getpid()) + '.' + std::to_string(::gettid());
  static_cast<void>(files.remove(fresh));  // perhaps left by an earlier process with this pid
  if (auto done = files.create(fresh, *image); !done)
    return step_failure("write", fresh, done.error());
  if (auto done = files.sync_file(fresh); !done) return step_failure("sync", fresh, done.error());
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) != 0) {
    const boost::system::error_code error(errno, boost::system::system_category());
    static_cast<void>(files.remove(fresh));
    if (error != boost::system::errc::file_exists) return step_failure("make", file, error);
  }
  if (auto done = files.sync_directory(file.parent_path()); !done)
    return step_failure("sync", file.parent_path(), done.error());
  auto made = look_at_own(files, file);
  return made ? Expected<>() : made.error();
}

Expected<> check_place(Files& files, const std::filesystem::path& file,
                       const FencedOptions& options) {
  auto system = files.file_system(file.parent_path());
  if (!system)
    return step_failure("look at the file system of", file.parent_path(), system.error());
  const auto name = network_file_system(system->type);
  if (name && !options.force_network_file_system)
    return refused(file, "is on a network file system (" + std::string(*name) +
                             "), whose locks and syncs may be unreliable: use a local disk, or set "
                             "force_network_file_system");
  return {};
}

Expected<> set_up_fenced(Database& database, std::chrono::milliseconds patience) {
  if (sqlite3_busy_timeout(database.handle(), static_cast<int>(patience.count())) != SQLITE_OK)
    return database.failure("set up");
  static constexpr std::pair<std::string_view, std::string_view> pragmas[] = {
      {"PRAGMA trusted_schema = OFF", ""},    {"PRAGMA trusted_schema", "0"},
      {"PRAGMA synchronous = FULL", ""},      {"PRAGMA synchronous", "2"},
      {"PRAGMA wal_autocheckpoint = 0", "0"}, {"PRAGMA cell_size_check = ON", ""},
      {"PRAGMA cell_size_check", "1"},        {"PRAGMA mmap_size = 0", "0"},
      {"PRAGMA temp_store = MEMORY", ""},     {"PRAGMA temp_store", "2"},
  };
  for (const auto& [sql, reply] : pragmas)
    if (auto done = database.pragma(sql, reply); !done) return done.error();
  return {};
}

Expected<> check_kind(Database& database, const std::filesystem::path& file) {
  auto application = database.ask("PRAGMA application_id");
  if (!application) return look_failure(database, file);
  if (*application != std::to_string(fenced_application_id))
    return refused(file, "is not a fenced store: name another file");
  auto format = database.ask("PRAGMA user_version");
  if (!format) return look_failure(database, file);
  if (*format != std::to_string(fenced_format))
    return refused(file, "has format " + *format + ", this program knows " +
                             std::to_string(fenced_format) + ": start the newer program");
  auto schema = database.prepare("SELECT sql FROM sqlite_schema ORDER BY rowid");
  if (!schema) return look_failure(database, file);
  std::vector<std::string> found;
  int code = 0;
  while ((code = schema->step()) == SQLITE_ROW) found.emplace_back(schema->text(0));
  if (code != SQLITE_DONE) return look_failure(database, file);
  if (!std::equal(found.begin(), found.end(), std::begin(fenced_tables), std::end(fenced_tables)))
    return unsound(file, "its tables are not those of a fenced store");
  auto mode = database.ask("PRAGMA journal_mode");
  if (!mode) return look_failure(database, file);
  if (*mode != "wal") return unsound(file, "it is not in write-ahead mode");
  return {};
}

Expected<> check_rows(Database& database, const std::filesystem::path& file) {
  auto verdict = database.ask("PRAGMA integrity_check(1)");
  if (!verdict) return look_failure(database, file);
  if (*verdict != "ok") {
    std::replace(verdict->begin(), verdict->end(), '\n', ' ');
    return unsound(file, *verdict);
  }
  auto fences = database.prepare("SELECT name, counter, coordinator, checksum FROM fences");
  if (!fences) return look_failure(database, file);
  int code = 0;
  while ((code = fences->step()) == SQLITE_ROW) {
    const GroupNumber group{static_cast<std::uint64_t>(fences->number(1)),
                            NodeId{static_cast<std::uint32_t>(fences->number(2))}};
    if (fences->number(3) != checksum_of_fence(fences->text(0), group))
      return unsound(file, "the checksum of a group number is wrong");
  }
  if (code != SQLITE_DONE) return look_failure(database, file);
  auto cells = database.prepare("SELECT name, key, value, checksum FROM cells");
  if (!cells) return look_failure(database, file);
  while ((code = cells->step()) == SQLITE_ROW)
    if (cells->number(3) != checksum_of_cell(cells->text(0), cells->blob(1), cells->blob(2)))
      return unsound(file, "the checksum of a cell is wrong");
  if (code != SQLITE_DONE) return look_failure(database, file);
  return {};
}

}  // namespace

std::int64_t checksum_of_fence(std::string_view name, const GroupNumber& group) {
  return checksum_of(name, encode(group));
}

std::int64_t checksum_of_cell(std::string_view name, std::string_view key, std::string_view value) {
  return checksum_of(encode(std::pair(digest(name), digest(key))), value);
}

Expected<Database> open_fenced_file(const std::filesystem::path& file,
                                    const FencedOptions& options) {
  Files& files = system_files();
  if (auto place = check_place(files, file, options); !place) return place.error();
  if (auto made = make_where_there_is_none(files, file); !made) return made.error();
  auto database = Database::open(file, Database::Access::exclusive, options.vfs);
  if (!database) return database.error();
  if (auto done = set_up_fenced(*database, options.patience); !done)
    return sqlite3_errcode(database->handle()) == SQLITE_OK ? done.error()
                                                            : look_failure(*database, file);
  if (auto kind = check_kind(*database, file); !kind) return kind.error();
  if (auto rows = check_rows(*database, file); !rows) return rows.error();
  database->opened();
  return database;
}

}  // namespace muster::storage
