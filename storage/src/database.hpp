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

/// A prepared statement; used again and again.
class Statement {
 public:
  Statement() = default;

  Statement& bind(int parameter, std::string_view blob);
  Statement& bind(int parameter, std::int64_t number);
  Statement& bind_text(int parameter, std::string_view text);

  /// SQLITE_ROW, SQLITE_DONE, or an error that Database::failure() explains.
  int step();
  /// Ready for the next use; forgets what was bound.
  void reset();

  /// Columns of the row that `step` gave; valid until the next step or reset.
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

/// Ready again when the scope ends, however it ends.
class ResetAfter {
 public:
  explicit ResetAfter(Statement& statement) : statement_(statement) {}
  ResetAfter(const ResetAfter&) = delete;
  ResetAfter& operator=(const ResetAfter&) = delete;
  ~ResetAfter() { statement_.reset(); }

 private:
  Statement& statement_;
};

/// A connection to one SQLite file that trusts nothing in it and never writes when it is closed.
class Database {
 public:
  enum class Access {
    untouched,  ///< reads the file as it is, without its log, locks nothing, changes nothing
    exclusive,  ///< reads and writes, for this connection alone
  };

  static Expected<Database> open(const std::filesystem::path& file, Access access,
                                 const std::string& vfs);
  /// An empty database in memory.
  static Expected<Database> in_memory();

  Expected<Statement> prepare(std::string_view sql);
  /// Runs statements that give no rows, or whose rows are of no interest.
  Expected<> run(const char* sql);
  /// The first column of the only row, as text; empty when there is no row.
  Expected<std::string> ask(std::string_view sql);
  /// Runs a PRAGMA and refuses any reply but this.
  Expected<> pragma(std::string_view sql, std::string_view reply);

  /// What went wrong last: "cannot {doing} {file}: ...". Before the store is open, what SQLite
  /// finds wrong in the file is a refusal, and what it cannot get is held by another process or for
  /// want of descriptors; after that every error is an I/O error.
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

/// "safe storage refused: FILE WHY", exit code 65.
Failure refused(const std::filesystem::path& file, std::string_view why);

/// "cannot DOING FILE: no descriptor is left", exit code 75.
Failure no_descriptors(std::string_view doing, const std::filesystem::path& file);

/// "cannot DOING FILE: WHY", exit code 74.
Failure io_failure(std::string_view doing, const std::filesystem::path& file, std::string_view why);

}  // namespace muster::storage
