#include "database.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace muster::storage {

namespace {

// Options (SQLITE_DBCONFIG_*) that are switched on or off for every connection.
constexpr std::pair<int, int> configuration[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
    {SQLITE_DBCONFIG_DQS_DML, 0},
    {SQLITE_DBCONFIG_DQS_DDL, 0},
    // Closing writes no checkpoint. So an orderly end leaves the same files as a kill, and there is
    // only one way to open a store, which every start tests.
    {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
};

// Limits (SQLITE_LIMIT_*) that are higher than Muster's statements and cells need, but keep a
// hostile file from using much memory.
constexpr std::pair<int, int> limits[] = {
    {SQLITE_LIMIT_LENGTH, 4 * 1024 * 1024},
    {SQLITE_LIMIT_SQL_LENGTH, 4096},
    {SQLITE_LIMIT_COLUMN, 16},
    {SQLITE_LIMIT_EXPR_DEPTH, 16},
    {SQLITE_LIMIT_COMPOUND_SELECT, 2},
    {SQLITE_LIMIT_VDBE_OP, 25000},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 8},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

std::string uri_of(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr char digits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', digits[byte >> 4U], digits[byte & 15U]};
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Statement& Statement::bind(int parameter, std::string_view blob) {
  // A null pointer would bind NULL instead of the empty blob.
  sqlite3_bind_blob64(statement_.get(), parameter, blob.empty() ? "" : blob.data(), blob.size(),
                      SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind(int parameter, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), parameter, number);
  return *this;
}

Statement& Statement::bind_text(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.empty() ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

int Statement::step() {
  return sqlite3_step(statement_.get());
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::string_view Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data ? std::string_view(static_cast<const char*>(data), size) : std::string_view();
}

std::string_view Statement::text(int column) const {
  const auto* data = sqlite3_column_text(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data ? std::string_view(reinterpret_cast<const char*>(data), size) : std::string_view();
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

Expected<Database> Database::open(const std::filesystem::path& file, Access access,
                                  const std::string& vfs) {
  const bool untouched = access == Access::untouched;
  const std::string name = untouched ? uri_of(file) : file.string();
  const int flags = (untouched ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE;
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &connection, flags, vfs.empty() ? nullptr : vfs.c_str());
  Database database(connection, file);
  if (code != SQLITE_OK) return database.failure("open");
  if (auto done = database.distrust(); !done) return done.error();
  return database;
}

Expected<Database> Database::in_memory() {
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(
      ":memory:", &connection,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  Database database(connection, ":memory:");
  if (code != SQLITE_OK) return database.failure("open");
  database.opened();
  return database;
}

Expected<> Database::distrust() {
  for (const auto& [option, value] : configuration) {
    int now = -1;
    if (sqlite3_db_config(handle(), option, value, &now) != SQLITE_OK || now != value)
      return io_failure("configure SQLite for", file_,
                        "option " + std::to_string(option) + " is not accepted: use SQLite 3.40");
  }
  for (const auto& [limit, value] : limits) sqlite3_limit(handle(), limit, value);
  return {};
}

Expected<Statement> Database::prepare(std::string_view sql) {
  Statement statement;
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &prepared, nullptr) != SQLITE_OK)
    return failure("read");
  statement.statement_.reset(prepared);
  return statement;
}

Expected<> Database::run(const char* sql) {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure("write");
  return {};
}

Expected<std::string> Database::ask(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const int code = statement->step();
  if (code == SQLITE_DONE) return std::string();
  if (code != SQLITE_ROW) return failure("read");
  std::string answer(statement->text(0));
  // Some PRAGMAs do their work only in the step that ends them.
  if (statement->step() != SQLITE_DONE) return failure("read");
  return answer;
}

Expected<> Database::pragma(std::string_view sql, std::string_view reply) {
  auto answer = ask(sql);
  if (!answer) return answer.error();
  if (*answer == reply) return {};
  return io_failure("set up", file_,
                    "\"" + std::string(sql) + "\" was answered \"" + *answer + "\" instead of \"" +
                        std::string(reply) +
                        "\": check that the file system lets SQLite lock and write there");
}

Failure Database::failure(std::string_view doing) const {
  const int extended = sqlite3_extended_errcode(handle());
  const int error = handle() ? sqlite3_system_errno(handle()) : 0;
  const std::string why = handle() ? sqlite3_errmsg(handle()) : "out of memory";
  if (opening_ && (error == EMFILE || error == ENFILE)) return no_descriptors(doing, file_);
  switch (opening_ ? extended & 0xFF : SQLITE_IOERR) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_ERROR:  // Muster's statements are valid, so the schema in the file is wrong
      return refused(file_,
                     "is corrupt (" + why +
                         "): move it away, then restore it or start the node with --initialise");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Failure{ExitCode::temporary, file_.string() +
                                              " is in use by another process: end that "
                                              "process, then try again"};
    default:
      break;
  }
  return io_failure(doing, file_,
                    why + " (SQLite " + std::to_string(extended) +
                        (error != 0 ? std::string(", ") + std::strerror(error) : std::string()) +
                        ")");
}

Failure refused(const std::filesystem::path& file, std::string_view why) {
  return {ExitCode::storage_refused,
          "safe storage refused: " + file.string() + " " + std::string(why)};
}

Failure no_descriptors(std::string_view doing, const std::filesystem::path& file) {
  return {ExitCode::temporary, "cannot " + std::string(doing) + " " + file.string() +
                                   ": no file descriptor is left: raise the limit (ulimit -n) or "
                                   "end processes that hold many, then start the node again"};
}

Failure io_failure(std::string_view doing, const std::filesystem::path& file,
                   std::string_view why) {
  return {ExitCode::io_error, "cannot " + std::string(doing) + " " + file.string() + ": " +
                                  std::string(why) + ": check the disk, then start the node again"};
}

}  // namespace muster::storage
