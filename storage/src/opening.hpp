#pragma once

#include "database.hpp"
#include "directory.hpp"
#include "format.hpp"
#include "log.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace muster::storage {

/// The size of a log of so many pages, in bytes.
std::uint64_t log_size(std::uint32_t pages);

/// A store in the making: the steps from a directory to a database that may be relied on, in their
/// order. Until `look` has ended well nothing of the store was changed.
class Opening {
 public:
  Opening(Files& files, const std::filesystem::path& directory, const OpenOptions& options)
      : files_(files), paths_(directory), options_(options) {}

  /// Makes and checks the directory, takes the lock, and makes a store where there is none.
  Expected<> claim(const Identity& identity);
  /// The same for a reader: nothing is made, and the lock is shared with other readers. There has
  /// to be as much room as a node needs where it reads `for_a_node`.
  Expected<> claim_to_read(bool for_a_node);

  /// Finds out all there is to be said against the store. `wanted` is null where it may be
  /// anybody's. Who claimed it to read changes nothing.
  Expected<Database> look(const Identity* wanted);

  /// Brings what was looked at into the state in which commits are durable.
  Expected<> prepare(Database& database, const Identity& identity);

  [[nodiscard]] const StorePaths& paths() const { return paths_; }
  [[nodiscard]] const Identity& found() const { return stamp_.identity; }
  /// After `prepare`: the last commit, which is in the file.
  [[nodiscard]] const Lineage& lineage() const { return lineage_; }
  std::unique_ptr<Lock> take_lock_over() { return std::move(lock_); }

 private:
  Expected<> look_for_room();
  Expected<bool> look_for_store();
  Expected<> create(const Identity& identity);
  Expected<> look_at_files();
  Expected<> look_at_file_alone();
  Expected<> look_inside(Database& database, const Identity* wanted);
  Expected<> look_at_lineage(Database& database);
  Expected<> look_at_log_of_older_format();
  Expected<> begin_log_anew();
  Expected<> reserve_log(Database& database);

  Files& files_;
  StorePaths paths_;
  const OpenOptions& options_;
  std::unique_ptr<Lock> lock_;
  bool only_read_ = false;
  bool log_is_begun_ = false;  ///< it is there, and more than room
  LogContent log_content_ = LogContent::nothing;
  LatestCommits in_log_;
  std::optional<Lineage> alone_;          ///< what the file says, where the log has commits
  std::optional<LatestCommits> in_file_;  ///< what stands in it, where it cannot say that alone
  Lineage lineage_;
  std::string new_header_;       ///< of a log that was begun, and has no commit
  std::uint64_t log_bytes_ = 0;  ///< its size
  bool journal_in_use_ = false;  ///< making the log was cut off: SQLite will take it back
  Stamp stamp_;
};

/// Sets a connection up so that every commit is durable when it returns: by write-ahead log, for
/// this connection alone, and distrusting the file.
Expected<> set_up(Database& database);

/// Brings the log's content into the file, durably.
Expected<> checkpoint(Database& database, Lineage& lineage);

/// One more commit, to be made within it. `update` is that of the lineage.
Expected<> count_commit(Database& database, Statement& update, Lineage& lineage);

}  // namespace muster::storage
