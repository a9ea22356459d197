#include "opening.hpp"

#include "log.hpp"

#include <algorithm>
#include <string>

namespace muster::storage {

namespace {

// The free space, in bytes, that a new life needs for its journal, its socket and its lock, in
// addition to the log.
constexpr std::uint64_t spare_bytes = 1024 * 1024;

constexpr std::size_t enough_of_file = 100;
constexpr std::size_t largest_write = std::size_t{1} << 16;  // SQLite's own limit is 128 KiB
constexpr std::size_t largest_log = std::size_t{1} << 30;

const std::string how_to_go_on =
    ": restore the whole directory, or move it away and start the node with --initialise";

}  // namespace

std::uint64_t log_size(std::uint32_t pages) {
  return log_header_size + std::uint64_t{pages} * (frame_header_size + page_size);
}

Expected<> Opening::claim(const Identity& identity) {
  if (auto done = prepare_directory(files_, paths_, options_); !done) return done.error();
  if (auto room = look_for_room(); !room) return room.error();
  auto lock = take_lock(files_, paths_, LockKind::exclusive);
  if (!lock) return lock.error();
  lock_ = std::move(*lock);
  auto there = look_for_store();
  if (!there) return there.error();
  auto fresh = files_.look(paths_.fresh);
  if (!fresh) return step_failure("look at", paths_.fresh, fresh.error());
  if (*fresh) {
    // This store was never renamed to its final name, so no promise of the node is in it.
    if (auto done = files_.remove(paths_.fresh); !done)
      return step_failure("remove", paths_.fresh, done.error());
  }
  return *there ? Expected<>() : create(identity);
}

Expected<> Opening::claim_to_read(bool for_a_node) {
  only_read_ = true;
  if (auto done = check_directory(files_, paths_, options_); !done) return done.error();
  auto facts = files_.look(paths_.lock);
  if (!facts) return step_failure("look at", paths_.lock, facts.error());
  if (*facts) {  // a copy of a store has no lock file, so no process has the lock
    auto lock = take_lock(files_, paths_, LockKind::shared);
    if (!lock) return lock.error();
    lock_ = std::move(*lock);
  }
  auto there = look_for_store();
  if (!there) return there.error();
  if (!*there) return refused(paths_.directory, "contains no store: name a node's directory");
  return for_a_node ? look_for_room() : Expected<>();
}

Expected<> Opening::look_for_room() {
  auto log = look_at_own(files_, paths_.log);
  if (!log) return log.error();
  const std::uint64_t reserved = *log ? (*log)->size : 0;
  const std::uint64_t wanted = log_size(options_.log_pages);
  const std::uint64_t missing = wanted > reserved ? wanted - reserved : 0;
  return check_room(files_, paths_, missing + spare_bytes);
}

// True if the store exists. Refuses the remains of a store whose file is missing.
Expected<bool> Opening::look_for_store() {
  for (const auto* own : {&paths_.fresh, &paths_.log, &paths_.journal, &paths_.file}) {
    auto facts = look_at_own(files_, *own);
    if (!facts) return facts.error();
    if (own == &paths_.file && *facts) return true;
  }
  for (const auto* other : {&paths_.log, &paths_.journal}) {
    auto facts = files_.look(*other);
    if (!facts) return step_failure("look at", *other, facts.error());
    if (*facts)
      return refused(paths_.file, "is missing, but " + other->filename().string() +
                                      " exists: restore the missing file, or move the directory "
                                      "away and start the node with --initialise");
  }
  return false;
}

// Makes a store atomically. At any moment, also after a power cut, there is either no store or a
// complete one.
Expected<> Opening::create(const Identity& identity) {
  auto bytes = new_store(identity);
  if (!bytes) return bytes.error();
  // An earlier life may have made the directory and ended before it could sync it.
  if (auto done = files_.sync_directory(paths_.directory.parent_path()); !done)
    return step_failure("sync", paths_.directory.parent_path(), done.error());
  if (auto done = files_.create(paths_.fresh, *bytes); !done)
    return step_failure("write", paths_.fresh, done.error());
  if (auto done = files_.sync_file(paths_.fresh); !done)
    return step_failure("sync", paths_.fresh, done.error());
  if (auto done = files_.rename(paths_.fresh, paths_.file); !done)
    return step_failure("rename", paths_.fresh, done.error());
  if (auto done = files_.sync_directory(paths_.directory); !done)
    return step_failure("sync", paths_.directory, done.error());
  return {};
}

Expected<> Opening::look_at_files() {
  auto first_bytes = files_.read(paths_.file, enough_of_file);
  if (!first_bytes) return step_failure("read", paths_.file, first_bytes.error());
  if (auto ours = check_header(paths_.file, *first_bytes); !ours) return ours.error();

  auto journal = look_at_own(files_, paths_.journal);
  if (!journal) return journal.error();
  if (*journal) {
    auto begin = files_.read(paths_.journal, 1);
    if (!begin) return step_failure("read", paths_.journal, begin.error());
    journal_in_use_ = !begin->empty() && begin->front() != '\0';
  }
  auto log = look_at_own(files_, paths_.log);
  if (!log) return log.error();
  if (!*log) return {};
  log_bytes_ = (*log)->size;
  auto bytes = files_.read(paths_.log, largest_log);
  if (!bytes) return step_failure("read", paths_.log, bytes.error());
  log_is_begun_ = bytes->find_first_not_of('\0') < log_header_size;
  if (!log_is_begun_) return {};
  // The file is durably in write-ahead mode, and its rollback journal is gone, before a log is
  // started. So a journal in use, or a file that is not in write-ahead mode, does not belong to
  // this log.
  if (journal_in_use_ || !has_log(*first_bytes))
    return refused(journal_in_use_ ? paths_.journal : paths_.log,
                   "does not belong to the store beside it: restore the whole directory");
  in_log_ = latest_commits_in(*bytes);
  log_content_ = content_of_log(*bytes);
  if (log_content_ != LogContent::nothing) return {};
  if (!may_be_cut_off(*bytes)) return refused(paths_.log, "is not a log" + how_to_go_on);
  new_header_ = header_of_another_round(*bytes);
  return {};
}

Expected<> Opening::look_inside(Database& database, const Identity* wanted) {
  auto stamp = read_stamp(database);
  if (!stamp) return stamp.error();
  stamp_ = std::move(*stamp);
  if (wanted) {
    if (auto ours = check_identity(paths_.file, stamp_.identity, *wanted); !ours)
      return ours.error();
  }
  if (stamp_.log_bytes > 0 && (!log_is_begun_ || log_bytes_ < stamp_.log_bytes))
    return refused(paths_.log,
                   "is missing, empty or truncated: restore the whole directory, or move it away "
                   "and start the node with --initialise");
  if (auto done = look_at_lineage(database); !done) return done.error();
  return check_contents(database);
}

// Reads the lineage of the file without its log. If a checkpoint was cut off, the file alone can be
// unreadable. In that case this function only collects the marks in the file's bytes, and the file
// is checked later, with its log.
Expected<> Opening::look_at_file_alone() {
  auto untouched = Database::open(paths_.file, Database::Access::untouched, options_.vfs);
  if (!untouched) return untouched.error();
  if (const auto lineage = read_lineage(*untouched)) {
    alone_ = *lineage;
    return {};
  }
  auto bytes = files_.read(paths_.file, largest_log);
  if (!bytes) return step_failure("read", paths_.file, bytes.error());
  in_file_ = latest_commits_in(*bytes);
  return {};
}

Expected<> Opening::look_at_lineage(Database& database) {
  auto whole = read_lineage(database);
  if (!whole) return whole.error();
  if (!*whole) return look_at_log_of_older_format();
  lineage_ = **whole;
  if (const auto found = mismatch(lineage_, alone_, in_log_))
    return refused(found->of_log ? paths_.log : paths_.file, found->why + how_to_go_on);
  if (in_file_ && !in_file_->contains(lineage_.store))
    return refused(paths_.log, "does not belong to the file beside it" + how_to_go_on);
  // No frame of the log was applied, but the bytes of the log can still name their store.
  const bool all_ours = std::all_of(in_log_.begin(), in_log_.end(), [&](const auto& latest) {
    return latest.first == lineage_.store;
  });
  if (log_content_ == LogContent::nothing && !all_ours)
    return refused(paths_.log, "belongs to another store" + how_to_go_on);
  return {};
}

// Without a lineage nothing tells how many commits are lost after the damaged frame.
Expected<> Opening::look_at_log_of_older_format() {
  if (log_content_ != LogContent::commits_and_rest) return {};
  return refused(paths_.log,
                 "was cut off or damaged, and its older format does not tell which: start the "
                 "program that wrote it, and stop it again");
}

Expected<Database> Opening::look(const Identity* wanted) {
  if (auto done = look_at_files(); !done) return done.error();
  if (log_content_ == LogContent::nothing) {
    auto untouched = Database::open(paths_.file, Database::Access::untouched, options_.vfs);
    if (!untouched) return untouched.error();
    if (auto done = look_inside(*untouched, wanted); !done) return done.error();
    if (only_read_) return untouched;
    if (auto done = restart_log(); !done) return done.error();
    return Database::open(paths_.file, Database::Access::exclusive, options_.vfs);
  }
  if (auto done = look_at_file_alone(); !done) return done.error();
  // Reading a file with its log changes neither, so both stay as they are if the store is refused.
  auto database = Database::open(paths_.file, Database::Access::exclusive, options_.vfs);
  if (!database) return database.error();
  if (auto done = database->pragma("PRAGMA locking_mode = EXCLUSIVE", "exclusive"); !done)
    return done.error();
  if (auto done = look_inside(*database, wanted); !done) return done.error();
  return database;
}

// Restarts a log that has no commits, in two steps. The first step erases the header of the first
// frame. After that the log has no commit, whatever happens to its own header. So if the second
// step is cut off, the new header cannot be mistaken for a damaged one.
Expected<> Opening::restart_log() {
  if (!log_is_begun_) return {};
  const std::pair<std::uint64_t, std::string> changes[] = {
      {log_header_size, std::string(frame_header_size, '\0')}, {0, new_header_}};
  for (const auto& [offset, bytes] : changes) {
    if (auto done = files_.overwrite(paths_.log, offset, bytes); !done)
      return step_failure("write", paths_.log, done.error());
    if (auto done = files_.sync_file(paths_.log); !done)
      return step_failure("sync", paths_.log, done.error());
  }
  return {};
}

Expected<> Opening::prepare(Database& database, const Identity& identity) {
  if (auto done = set_up(database); !done) return done.error();
  if (auto done = reserve_log(database); !done) return done.error();
  // Makes the log's directory entry durable, and the file's if an earlier life ended before it
  // synced it.
  if (auto done = files_.sync_directory(paths_.directory); !done)
    return step_failure("sync", paths_.directory, done.error());
  // Writes again everything that was read. If an earlier life failed to sync a page, the page can
  // be readable and still not be on the disk. Another sync would then succeed without writing the
  // page.
  if (auto done = checkpoint(database, lineage_); !done) return done.error();
  auto format = read_format(database);
  if (!format) return format.error();
  const std::uint64_t reserved = log_size(options_.log_pages);
  const bool has_room = stamp_.log_bytes >= reserved;
  if (has_room && *format == format_version) return {};
  if (auto done = database.run("BEGIN IMMEDIATE"); !done) return done.error();
  if (*format < format_version) {
    lineage_ = new_lineage();
    if (auto done = migrate(database, *format, lineage_); !done) return done.error();
  }
  if (!has_room)
    if (auto done = stamp_log(database, identity, reserved); !done) return done.error();
  auto update = database.prepare(update_lineage);
  if (!update) return update.error();
  if (auto done = count_commit(database, *update, lineage_); !done) return done.error();
  if (auto done = database.run("COMMIT"); !done) return done.error();
  return checkpoint(database, lineage_);
}

// Writes the log to its full size. Later commits only overwrite it, which is more than twice as
// fast and also works when the disk is full.
Expected<> Opening::reserve_log(Database& database) {
  // SQLite opens the log at its first read.
  if (auto read = database.ask("SELECT log_bytes FROM identity"); !read) return read.error();
  if (stamp_.log_bytes >= log_size(options_.log_pages)) return {};
  sqlite3_file* log = nullptr;
  if (sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) !=
          SQLITE_OK ||
      log == nullptr || log->pMethods == nullptr)
    return io_failure("reserve", paths_.log, "SQLite gives no access to it");
  // Existing bytes beyond the stamp's size are written again, because an earlier life may have
  // grown the log and failed to sync these bytes.
  const auto wanted = static_cast<sqlite3_int64>(log_size(options_.log_pages));
  std::string bytes(largest_write, '\0');
  for (auto at = static_cast<sqlite3_int64>(stamp_.log_bytes); at < wanted;) {
    const int size = static_cast<int>(std::min(wanted - at, sqlite3_int64{largest_write}));
    int code =
        log->pMethods->xRead(log, bytes.data(), size, at);  // zeros beyond the end of the file
    if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ)
      code = log->pMethods->xWrite(log, bytes.data(), size, at);
    if (code != SQLITE_OK)
      return io_failure("reserve " + std::to_string(wanted) + " bytes for", paths_.log,
                        sqlite3_errstr(code));
    at += size;
  }
  if (const int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL); code != SQLITE_OK)
    return io_failure("sync", paths_.log, sqlite3_errstr(code));
  return {};
}

Expected<> set_up(Database& database) {
  // The order matters. The log has to be made under EXTRA. Otherwise a power cut can bring back the
  // rollback journal of that step, and the journal would hide the log.
  static constexpr std::pair<std::string_view, std::string_view> pragmas[] = {
      {"PRAGMA locking_mode = EXCLUSIVE", "exclusive"},
      {"PRAGMA synchronous = EXTRA", ""},
      {"PRAGMA synchronous", "3"},
      {"PRAGMA journal_mode = WAL", "wal"},
      {"PRAGMA synchronous = EXTRA", ""},
      {"PRAGMA synchronous", "3"},
      {"PRAGMA wal_autocheckpoint = 0", "0"},
      {"PRAGMA trusted_schema = OFF", ""},
      {"PRAGMA trusted_schema", "0"},
      {"PRAGMA cell_size_check = ON", ""},
      {"PRAGMA cell_size_check", "1"},
      {"PRAGMA mmap_size = 0", "0"},
      {"PRAGMA temp_store = MEMORY", ""},
      {"PRAGMA temp_store", "2"},
      {"PRAGMA secure_delete = OFF", "0"},
      {"PRAGMA page_size", "4096"},
      {"PRAGMA auto_vacuum", "0"},
  };
  for (const auto& [sql, reply] : pragmas)
    if (auto done = database.pragma(sql, reply); !done) return done.error();
  return {};
}

Expected<> checkpoint(Database& database, Lineage& lineage) {
  int frames = 0;
  int copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(database.handle(), "main", SQLITE_CHECKPOINT_PASSIVE,
                                             &frames, &copied);
  if (code != SQLITE_OK) return database.failure("write back the log of");
  if (frames != copied)
    return io_failure(
        "write back the log of", sqlite3_db_filename(database.handle(), "main"),
        "only " + std::to_string(copied) + " of " + std::to_string(frames) + " pages were taken");
  lineage.in_file = lineage.commits;
  return {};
}

Expected<> count_commit(Database& database, Statement& update, Lineage& lineage) {
  ++lineage.commits;
  const ResetAfter reset(update);
  const std::string bytes = stored(lineage);
  update.bind(1, bytes);
  if (update.step() != SQLITE_DONE) return database.failure("write");
  return {};
}

}  // namespace muster::storage
