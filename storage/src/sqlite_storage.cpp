#include "opening.hpp"

#include <muster/storage/limits.hpp>
#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/archive.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace muster::storage {

namespace {

// The number of pages that a commit of the usual size needs. This many pages of the log stay free,
// so that the log does not grow.
constexpr std::uint32_t pages_of_a_commit = 64;

}  // namespace

/// An open store. The members are declared so that they are destroyed in this order: statements,
/// connection, lock.
class SqliteStorage::Store {
 public:
  Store(Files& files, StorePaths paths, std::unique_ptr<Lock> lock, Database database,
        const Lineage& lineage, std::uint32_t log_pages)
      : files_(files),
        paths_(std::move(paths)),
        lock_(std::move(lock)),
        database_(std::move(database)),
        lineage_(lineage),
        checkpoint_after_(log_pages - std::min(log_pages / 2, pages_of_a_commit)) {}

  Expected<> begin() {
    const std::pair<Statement*, std::string_view> statements[] = {
        {&begin_, "BEGIN IMMEDIATE"},       {&commit_, "COMMIT"},
        {&select_record_, select_record},   {&update_record_, update_record},
        {&select_cell_, select_cell},       {&select_cells_, select_cells},
        {&replace_cell_, replace_cell},     {&erase_cell_, erase_cell},
        {&update_lineage_, update_lineage},
    };
    for (const auto& [statement, sql] : statements) {
      auto prepared = database_.prepare(sql);
      if (!prepared) return prepared.error();
      *statement = std::move(*prepared);
    }
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      auto facts = look_at_own(files_, watched(i));
      if (!facts) return facts.error();
      if (!*facts) return io_failure("find", watched(i), "it no longer exists");
      watched_[i] = **facts;
    }
    sqlite3_wal_hook(database_.handle(), &Store::log_has_grown, this);
    database_.opened();
    return {};
  }

  Expected<SafeState> load() {
    if (poison_) return *poison_;
    auto safe = read_record(database_, select_record_);
    if (!safe) return poisoned(safe.error());
    return safe;
  }

  Expected<> save(const SafeState& safe) {
    const std::string record = encode(safe);
    if (record.size() > largest_record)
      return Failure{ExitCode::hook_failed,
                     "the state to be saved has " + std::to_string(record.size()) +
                         " bytes; at most " + std::to_string(largest_record) +
                         " can be kept: make the definition of a reorganization smaller"};
    return commit([&]() -> Expected<> {
      update_record_.bind(1, record).bind(2, checksum_of(record));
      return finish(update_record_);
    });
  }

  Expected<> write(const CellBatch& batch) {
    if (poison_) return *poison_;
    if (auto fits = check_limits(batch); !fits) return fits.error();
    if (batch.writes.empty()) return {};
    return commit([&]() -> Expected<> {
      for (const CellBatch::Write& write : batch.writes)
        if (auto done = write_cell(write); !done) return done.error();
      return {};
    });
  }

  Expected<std::optional<Bytes>> read(std::string_view key) {
    if (poison_) return *poison_;
    const ResetAfter reset(select_cell_);
    select_cell_.bind(1, key);
    const int code = select_cell_.step();
    if (code == SQLITE_DONE) return std::optional<Bytes>();
    if (code != SQLITE_ROW) return poisoned(database_.failure("read"));
    if (select_cell_.number(1) != checksum_of(key, select_cell_.blob(0)))
      return poisoned(damaged_cell());
    return std::optional<Bytes>(Bytes{std::string(select_cell_.blob(0))});
  }

  Expected<> scan(std::string_view prefix,
                  const std::function<void(std::string_view, const Bytes&)>& visit) {
    if (poison_) return *poison_;
    const ResetAfter reset(select_cells_);
    select_cells_.bind(1, prefix);
    int code = 0;
    while ((code = select_cells_.step()) == SQLITE_ROW) {
      const std::string key(select_cells_.blob(0));
      if (!key.starts_with(prefix)) return {};
      const Bytes value{std::string(select_cells_.blob(1))};
      if (select_cells_.number(2) != checksum_of(key, value.data)) return poisoned(damaged_cell());
      visit(key, value);
    }
    if (code != SQLITE_DONE) return poisoned(database_.failure("read"));
    return {};
  }

  void tend() {
    if (poison_ || pages_in_log_ < checkpoint_after_ / 2) return;
    [[maybe_unused]] const Expected<> told_by_the_next = write_back();
  }

 private:
  static int log_has_grown(void* self, sqlite3*, const char*, int pages) {
    static_cast<Store*>(self)->pages_in_log_ = static_cast<std::uint32_t>(pages);
    return SQLITE_OK;
  }

  // Poisons the store with its first failure. After a failed write or sync, the state of the disk
  // is unknown. So nothing is rolled back and nothing is tried again. The next life reads what is
  // on the disk.
  Failure poisoned(const Failure& failure) {
    poison_ = Failure{ExitCode::io_error, failure.what};
    return *poison_;
  }

  template <class Work>
  Expected<> commit(const Work& work) {
    if (poison_) return *poison_;
    if (auto done = still_there(); !done) return poisoned(done.error());
    if (auto done = in_transaction(work); !done) return poisoned(done.error());
    return pages_in_log_ < checkpoint_after_ ? Expected<>() : write_back();
  }

  template <class Work>
  Expected<> in_transaction(const Work& work) {
    if (auto done = finish(begin_); !done) return done.error();
    if (auto done = work(); !done) return done.error();
    if (auto done = count_commit(database_, update_lineage_, lineage_); !done) return done.error();
    return finish(commit_);
  }

  // Copies the content of the log into the file explicitly. SQLite's automatic checkpoint would
  // hide a failure, and the first failure has to poison the store.
  Expected<> write_back() {
    if (auto done = checkpoint(database_, lineage_); !done) return poisoned(done.error());
    pages_in_log_ = 0;
    return {};
  }

  Expected<> finish(Statement& statement) {
    const ResetAfter reset(statement);
    if (statement.step() != SQLITE_DONE) return database_.failure("write");
    return {};
  }

  Expected<> write_cell(const CellBatch::Write& write) {
    if (!write.value) {
      erase_cell_.bind(1, write.key);
      return finish(erase_cell_);
    }
    const std::string& value = write.value->data;
    replace_cell_.bind(1, write.key).bind(2, value).bind(3, checksum_of(write.key, value));
    return finish(replace_cell_);
  }

  // Fails if the file or its log was removed, renamed or replaced, because further writes would be
  // lost.
  Expected<> still_there() {
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      auto facts = files_.look(watched(i));
      if (!facts) return step_failure("look at", watched(i), facts.error());
      const FileFacts& known = watched_[i];
      if (!*facts || (*facts)->inode != known.inode || (*facts)->device != known.device ||
          (*facts)->links != 1)
        return io_failure("write", watched(i),
                          "it was removed, renamed, linked or replaced while in use");
    }
    int moved = 0;
    sqlite3_file_control(database_.handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved != 0) return io_failure("write", paths_.file, "it was moved while in use");
    return {};
  }

  [[nodiscard]] const std::filesystem::path& watched(std::size_t index) const {
    return index == 0 ? paths_.file : paths_.log;
  }

  [[nodiscard]] Failure damaged_cell() const {
    return io_failure("read", paths_.file, "the checksum of a cell is wrong");
  }

  Files& files_;
  StorePaths paths_;
  std::unique_ptr<Lock> lock_;
  Database database_;
  Lineage lineage_;  ///< the lineage of the last commit
  std::uint32_t checkpoint_after_;
  std::uint32_t pages_in_log_ = 0;
  std::array<FileFacts, 2> watched_;
  std::optional<Failure> poison_;
  Statement update_lineage_, begin_, commit_, select_record_, update_record_, select_cell_,
      select_cells_, replace_cell_, erase_cell_;
};

Expected<std::unique_ptr<SqliteStorage>> SqliteStorage::open(const std::filesystem::path& directory,
                                                             const Identity& identity,
                                                             const OpenOptions& options) {
  Files& files = options.files ? *options.files : system_files();
  auto absolute = files.absolute(directory);
  if (!absolute) return step_failure("find", directory, absolute.error());
  Opening opening(files, *absolute, options);
  if (auto done = opening.claim(identity); !done) return done.error();
  auto database = opening.look(&identity);
  if (!database) return database.error();
  if (auto done = opening.prepare(*database, identity); !done) return done.error();
  auto store = std::make_unique<Store>(files, opening.paths(), opening.take_lock_over(),
                                       std::move(*database), opening.lineage(), options.log_pages);
  if (auto done = store->begin(); !done) return done.error();
  return std::unique_ptr<SqliteStorage>(new SqliteStorage(std::move(store)));
}

SqliteStorage::SqliteStorage(std::unique_ptr<Store> store) : store_(std::move(store)) {}
SqliteStorage::~SqliteStorage() = default;

Expected<SafeState> SqliteStorage::load() {
  return store_->load();
}
Expected<> SqliteStorage::save(const SafeState& safe) {
  return store_->save(safe);
}
Expected<> SqliteStorage::write(const CellBatch& batch) {
  return store_->write(batch);
}
Expected<std::optional<Bytes>> SqliteStorage::read(std::string_view key) {
  return store_->read(key);
}
Expected<> SqliteStorage::scan(std::string_view prefix,
                               const std::function<void(std::string_view, const Bytes&)>& visit) {
  return store_->scan(prefix, visit);
}
void SqliteStorage::tend() {
  store_->tend();
}

}  // namespace muster::storage
