#include <muster/storage/fenced_store.hpp>

#include "directory.hpp"
#include "fenced_file.hpp"

#include <muster/storage/limits.hpp>
#include <muster/values/text.hpp>

#include <thread>
#include <utility>

namespace muster::storage {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int pages_before_checkpoint = 1000;
constexpr std::chrono::milliseconds between_attempts(1);

constexpr std::string_view select_fence =
    "SELECT counter, coordinator, checksum FROM fences WHERE name = ?1";
constexpr std::string_view replace_fence =
    "INSERT INTO fences(name, counter, coordinator, checksum) VALUES(?1, ?2, ?3, ?4) "
    "ON CONFLICT(name) DO UPDATE SET counter = ?2, coordinator = ?3, checksum = ?4";
constexpr std::string_view select_one =
    "SELECT value, checksum FROM cells WHERE name = ?1 AND key = ?2";
constexpr std::string_view select_from =
    "SELECT key, value, checksum FROM cells WHERE name = ?1 AND key >= ?2 ORDER BY key";
constexpr std::string_view replace_one =
    "INSERT INTO cells(name, key, value, checksum) VALUES(?1, ?2, ?3, ?4) "
    "ON CONFLICT(name, key) DO UPDATE SET value = ?3, checksum = ?4";
constexpr std::string_view erase_one = "DELETE FROM cells WHERE name = ?1 AND key = ?2";

}  // namespace

/// An open store. The members are declared so that the statements are destroyed before the
/// connection.
class FencedStore::Store final : public FencedStore::Transaction {
 public:
  Store(std::filesystem::path file, const FencedOptions& options, Database database)
      : file_(std::move(file)),
        turn_(file_.string() + ".turn"),
        name_(options.name),
        patience_(options.patience),
        database_(std::move(database)) {}

  Expected<> begin() {
    const std::pair<Statement*, std::string_view> statements[] = {
        {&begin_, "BEGIN IMMEDIATE"}, {&commit_, "COMMIT"},     {&rollback_, "ROLLBACK"},
        {&fence_, select_fence},      {&raise_, replace_fence}, {&select_, select_one},
        {&select_from_, select_from}, {&replace_, replace_one}, {&erase_, erase_one},
    };
    for (const auto& [statement, sql] : statements) {
      auto prepared = database_.prepare(sql);
      if (!prepared) return prepared.error();
      *statement = std::move(*prepared);
    }
    sqlite3_wal_hook(database_.handle(), &Store::log_has_grown, this);
    sqlite3_busy_handler(database_.handle(), &Store::wait_for_others, this);
    return {};
  }

  /// Starts to measure how long an operation waits for other processes.
  void be_patient() { deadline_ = Clock::now() + patience_; }

  Expected<> apply(const GroupNumber& group, const std::function<Expected<>(Transaction&)>& work) {
    if (poison_) return *poison_;
    if (auto there = still_there(); !there) return there.error();
    if (auto begun = begin_in_turn(); !begun) return begun.error();
    try {
      auto done = admit(group);
      if (done) done = work(*this);
      if (poison_) return *poison_;
      if (!done) return roll_back(done.error());
    } catch (...) {
      if (!poison_) static_cast<void>(finish(rollback_));
      throw;
    }
    if (auto committed = finish(commit_); !committed) return committed.error();
    return pages_in_log_ < pages_before_checkpoint ? Expected<>() : write_back();
  }

  Expected<std::optional<GroupNumber>> highest() {
    if (poison_) return *poison_;
    const ResetAfter reset(fence_);
    fence_.bind_text(1, name_);
    const int code = fence_.step();
    if (code == SQLITE_DONE) return std::optional<GroupNumber>();
    if (code != SQLITE_ROW) return failed(code, "read");
    const GroupNumber group{static_cast<std::uint64_t>(fence_.number(0)),
                            NodeId{static_cast<std::uint32_t>(fence_.number(1))}};
    if (fence_.number(2) != checksum_of_fence(name_, group))
      return poisoned(io_failure("read", file_, "the checksum of a group number is wrong"));
    return std::optional<GroupNumber>(group);
  }

  Expected<std::optional<Bytes>> read(std::string_view key) override {
    if (poison_) return *poison_;
    const ResetAfter reset(select_);
    select_.bind_text(1, name_).bind(2, key);
    const int code = select_.step();
    if (code == SQLITE_DONE) return std::optional<Bytes>();
    if (code != SQLITE_ROW) return failed(code, "read");
    if (select_.number(1) != checksum_of_cell(name_, key, select_.blob(0))) return damaged_cell();
    return std::optional<Bytes>(Bytes{std::string(select_.blob(0))});
  }

  Expected<> write(std::string_view key, const Bytes& value) override {
    if (poison_) return *poison_;
    if (auto fits = check_limits({std::string(key), value}); !fits) return fits.error();
    replace_.bind_text(1, name_)
        .bind(2, key)
        .bind(3, value.data)
        .bind(4, checksum_of_cell(name_, key, value.data));
    return finish(replace_);
  }

  Expected<> erase(std::string_view key) override {
    if (poison_) return *poison_;
    erase_.bind_text(1, name_).bind(2, key);
    return finish(erase_);
  }

  Expected<> scan(std::string_view prefix,
                  const std::function<void(std::string_view, const Bytes&)>& visit) override {
    if (poison_) return *poison_;
    const ResetAfter reset(select_from_);
    select_from_.bind_text(1, name_).bind(2, prefix);
    int code = 0;
    while ((code = select_from_.step()) == SQLITE_ROW) {
      const std::string key(select_from_.blob(0));
      if (!key.starts_with(prefix)) return {};
      const Bytes value{std::string(select_from_.blob(1))};
      if (select_from_.number(2) != checksum_of_cell(name_, key, value.data)) return damaged_cell();
      visit(key, value);
    }
    if (code != SQLITE_DONE) return failed(code, "read");
    return {};
  }

 private:
  static int log_has_grown(void* self, sqlite3*, const char*, int pages) {
    static_cast<Store*>(self)->pages_in_log_ = pages;
    return SQLITE_OK;
  }

  static int wait_for_others(void* self, int) {
    if (Clock::now() >= static_cast<Store*>(self)->deadline_) return 0;
    std::this_thread::sleep_for(between_attempts);
    return 1;
  }

  // Starts a transaction, fairly. SQLite alone would let a process that writes again and again keep
  // all others out. Here the next writer holds the turn lock while it waits for the current one.
  // The current writer has to take the turn lock before its own next write.
  Expected<> begin_in_turn() {
    while (true) {
      auto attempt = system_files().lock(turn_, LockKind::exclusive);
      if (!attempt) return step_failure("lock", turn_, attempt.error());
      if (attempt->lock) return finish(begin_);
      if (wait_for_others(this, 0) == 0) return failed(SQLITE_BUSY, "write");
    }
  }

  // Refuses an outdated group, and records a newer one. It runs inside the transaction that it
  // permits, so no other process can write between this check and the commit.
  Expected<> admit(const GroupNumber& group) {
    auto seen = highest();
    if (!seen) return seen.error();
    if (*seen && group < **seen)
      return Failure{ExitCode::disagreement,
                     "group " + to_text(group) + " is refused because " + file_.string() +
                         " has seen the newer group " + to_text(**seen) + " of \"" + name_ +
                         "\": the coordinator of the refused group is outdated and has to stop"};
    if (*seen && **seen == group) return {};
    raise_.bind_text(1, name_)
        .bind(2, static_cast<std::int64_t>(group.counter))
        .bind(3, std::int64_t{group.coordinator.value})
        .bind(4, checksum_of_fence(name_, group));
    return finish(raise_);
  }

  Expected<> roll_back(const Failure& why) {
    if (auto done = finish(rollback_); !done) return done.error();
    return why;
  }

  // Copies the content of the log into the file, as far as readers in other processes permit.
  Expected<> write_back() {
    pages_in_log_ = 0;
    const int code = sqlite3_wal_checkpoint_v2(database_.handle(), "main",
                                               SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    if (code == SQLITE_OK || (code & 0xFF) == SQLITE_BUSY) return {};
    return poisoned(database_.failure("write back the log of"));
  }

  Expected<> finish(Statement& statement) {
    const ResetAfter reset(statement);
    const int code = statement.step();
    if (code != SQLITE_DONE) return failed(code, "write");
    return {};
  }

  // If other processes write for too long, the operation fails and the store is still sound. Every
  // other error poisons the store.
  Failure failed(int code, std::string_view doing) {
    if ((code & 0xFF) == SQLITE_BUSY)
      return {
          ExitCode::temporary,
          file_.string() + " was in use by other writers for longer than `patience`: try again"};
    return poisoned(database_.failure(doing));
  }
  Failure poisoned(const Failure& failure) {
    poison_ = failure;
    return failure;
  }
  Failure damaged_cell() {
    return poisoned(io_failure("read", file_, "the checksum of a cell is wrong"));
  }

  // Fails if the file was removed or replaced: writes to it would be lost.
  Expected<> still_there() {
    int moved = 0;
    sqlite3_file_control(database_.handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved == 0) return {};
    return poisoned(io_failure("write", file_, "it was removed or replaced while in use"));
  }

  std::filesystem::path file_;
  std::filesystem::path turn_;
  std::string name_;
  std::chrono::milliseconds patience_;
  Clock::time_point deadline_;
  Database database_;
  int pages_in_log_ = 0;
  std::optional<Failure> poison_;
  Statement begin_, commit_, rollback_, fence_, raise_, select_, select_from_, replace_, erase_;
};

Expected<std::unique_ptr<FencedStore>> FencedStore::open(const std::filesystem::path& file,
                                                         const FencedOptions& options) {
  const std::filesystem::path where = std::filesystem::absolute(file).lexically_normal();
  auto database = open_fenced_file(where, options);
  if (!database) return database.error();
  auto store = std::make_unique<Store>(where, options, std::move(*database));
  if (auto done = store->begin(); !done) return done.error();
  return std::unique_ptr<FencedStore>(new FencedStore(std::move(store)));
}

FencedStore::FencedStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}
FencedStore::~FencedStore() = default;

Expected<> FencedStore::apply(const GroupNumber& group,
                              const std::function<Expected<>(Transaction&)>& work) {
  store_->be_patient();
  return store_->apply(group, work);
}
Expected<> FencedStore::write(const GroupNumber& group, std::string_view key, const Bytes& value) {
  return apply(group, [&](Transaction& cells) { return cells.write(key, value); });
}
Expected<std::optional<Bytes>> FencedStore::read(std::string_view key) {
  store_->be_patient();
  return store_->read(key);
}
Expected<std::optional<GroupNumber>> FencedStore::highest() {
  store_->be_patient();
  return store_->highest();
}

bool is_fenced_off(const Failure& failure) {
  return failure.code == ExitCode::disagreement;
}

}  // namespace muster::storage
