#pragma once

#include <muster/values/failure.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace muster::storage {

class Database;

/// A prepared statement, which is used many times.
class Statement {
 public:
  Statement() = default;

  Statement& bind(int parameter, std::string_view blob);
  Statement& bind(int parameter, std::int64_t number);
  Statement& bind_text(int parameter, std::string_view text);

  /// Takes the next step. Returns SQLITE_ROW, SQLITE_DONE, or an error that Database::failure()
  /// explains.
  int step();
  /// Makes the statement ready for its next use, and forgets its parameters.
  void reset();

  /// Columns of the row that `step` reached. Valid until the next `step` or `reset`.
  [[nodiscard]] std::string_view blob(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::int64_t number(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// Resets a statement at the end of a scope.
class ResetAfter {
 public:
  explicit ResetAfter(Statement& statement) : statement_(statement) {}
  ResetAfter(const ResetAfter&) = delete;
  ResetAfter& operator=(const ResetAfter&) = delete;
  ~ResetAfter() { statement_.reset(); }

 private:
  Statement& statement_;
};

/// A connection to one SQLite file. It trusts nothing in the file, and closing it writes nothing.
class Database {
 public:
  enum class Access {
    untouched,  ///< reads the file without its log; takes no lock and changes nothing
    exclusive,  ///< reads and writes, as the only connection to the file
  };

  static Expected<Database> open(const std::filesystem::path& file, Access access,
                                 const std::string& vfs);
  /// An empty database in memory.
  static Expected<Database> in_memory();

  Expected<Statement> prepare(std::string_view sql);
  /// Runs statements, and ignores the rows that they return.
  Expected<> run(const char* sql);
  /// The first column of the only row, as text; empty when there is no row.
  Expected<std::string> ask(std::string_view sql);
  /// Runs a PRAGMA and fails unless SQLite answers with `reply`.
  Expected<> pragma(std::string_view sql, std::string_view reply);

  /// The last error, as "cannot {doing} {file}: ...". Before `opened()`, an error in the contents
  /// of the file means that the store is refused. If SQLite cannot lock or open the file, the
  /// failure says that another process uses the file, or that this process has no descriptor left.
  /// After `opened()` every error is an I/O error.
  [[nodiscard]] Failure failure(std::string_view doing) const;
  void opened() { opening_ = false; }

  [[nodiscard]] sqlite3* handle() const { return connection_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  Database(sqlite3* connection, std::filesystem::path file)
      : file_(std::move(file)), connection_(connection) {}
  Expected<> distrust();

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> connection_;
  bool opening_ = true;
};

/// The failure "safe storage refused: FILE WHY", with exit code 65.
Failure refused(const std::filesystem::path& file, std::string_view why);

/// The failure "cannot DOING FILE: no descriptor is left", with exit code 75.
Failure no_descriptors(std::string_view doing, const std::filesystem::path& file);

/// The failure "cannot DOING FILE: WHY", with exit code 74.
Failure io_failure(std::string_view doing, const std::filesystem::path& file, std::string_view why);

}  // namespace muster::storage
