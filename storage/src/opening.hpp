#pragma once

#include "database.hpp"
#include "directory.hpp"
#include "format.hpp"
#include "log.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace muster::storage {

/// The size in bytes of a log of that many pages.
std::uint64_t log_size(std::uint32_t pages);

/// Opens a store in steps. The first step has only a directory, and the last one gives a database
/// that can be relied on.
///
/// Opening has to tell two kinds of damage apart. A power cut damages at most the one commit that
/// was not acknowledged yet; then the store is sound and opens. A lost, exchanged or damaged file
/// loses acknowledged commits, and with them promises of this node. Such a store must be refused,
/// as the protocol relies on safe storage (assumption 4). SQLite cannot tell the difference: it
/// silently applies a log up to the first bad frame, and it accepts a file without its log.
///
/// So the store carries its own evidence. The stamp in the file contains the size that the log must
/// have. Each commit writes its lineage: the store's random number and the count of commits. `look`
/// reads three things: the file alone, the file together with its log, and the marks of all commits
/// in the bytes of the log. `mismatch` (lineage.hpp) compares them. These three have to agree,
/// except about the last commit, which a power cut may have cut off.
///
/// The steps are `claim` (directory, free space, lock, a new store), `look` (all checks) and
/// `prepare` (settings under which commits are durable, the reserved log, a conversion from an
/// older format). Nothing of an existing store is changed before `look` has succeeded. So a refused
/// store stays unchanged, for a restore or an inspection.
class Opening {
 public:
  Opening(Files& files, const std::filesystem::path& directory, const OpenOptions& options)
      : files_(files), paths_(directory), options_(options) {}

  /// Makes and checks the directory, takes the lock, and makes a store if there is none.
  Expected<> claim(const Identity& identity);
  /// The first step for a reader. It makes no file or directory, and it shares the lock with other
  /// readers. If the reader acts `for_a_node`, the disk has to have as much free space as a node
  /// needs.
  Expected<> claim_to_read(bool for_a_node);

  /// Checks everything in the store. `wanted` is null if the store is allowed to belong to any
  /// node. A reader changes nothing here.
  Expected<Database> look(const Identity* wanted);

  /// Brings the checked store into the state in which commits are durable.
  Expected<> prepare(Database& database, const Identity& identity);

  [[nodiscard]] const StorePaths& paths() const { return paths_; }
  [[nodiscard]] const Identity& found() const { return stamp_.identity; }
  /// The last commit after `prepare`. This commit is in the file.
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
  Expected<> restart_log();
  Expected<> reserve_log(Database& database);

  Files& files_;
  StorePaths paths_;
  const OpenOptions& options_;
  std::unique_ptr<Lock> lock_;
  bool only_read_ = false;
  bool log_is_begun_ = false;  ///< the log exists and contains more than reserved space
  LogContent log_content_ = LogContent::nothing;
  LatestCommits in_log_;
  std::optional<Lineage> alone_;          ///< the lineage in the file, if the log has commits
  std::optional<LatestCommits> in_file_;  ///< the marks in the file, if its lineage cannot be read
  Lineage lineage_;
  std::string new_header_;       ///< set if the log was started and has no commit
  std::uint64_t log_bytes_ = 0;  ///< size of the log
  bool journal_in_use_ = false;  ///< making the log was cut off: SQLite will roll this step back
  Stamp stamp_;
};

/// Sets up a connection so that every commit is durable when it returns: write-ahead log, full
/// sync, and no other connection. The connection does not trust the file.
Expected<> set_up(Database& database);

/// Copies the content of the log into the file, durably.
Expected<> checkpoint(Database& database, Lineage& lineage);

/// Counts one more commit, as a part of that commit. `update` is the statement that writes the
/// lineage.
Expected<> count_commit(Database& database, Statement& update, Lineage& lineage);

}  // namespace muster::storage
