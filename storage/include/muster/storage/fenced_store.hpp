#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace MUSTER_EXPORT muster {
namespace storage {

/// The options of a FencedStore.
struct FencedOptions {
  /// One file can contain the cells of several applications. Each name has its own cells and its
  /// own highest group number.
  std::string name = "main";
  /// How long a transaction waits while other processes write.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  /// As in OpenOptions.
  bool force_network_file_system = false;
  std::string vfs{};
};

/// A store that refuses writes of outdated groups. Its cells are in one SQLite file, which several
/// nodes or processes may use at once. The store remembers the highest group number that it has
/// seen and refuses each write under a smaller number (docs/how-to/fencing.md).
///
///     auto store = muster::storage::FencedStore::open("jobs.sqlite").value();
///     auto done = store->apply(permit->group(), [&](auto& cells) -> muster::Expected<> {
///       auto before = cells.read("next");
///       if (!before) return before.error();
///       return cells.write("next", muster::Bytes{next_after(*before)});
///     });
///     if (!done && muster::storage::is_fenced_off(done.error())) stop_working();
///
/// The highest group number is saved in the same transaction as the write that it permits. So once
/// a newer group has read or written anything in a transaction, no write of an older group can
/// follow.
///
/// Durability: a transaction is durable when it returns. Writers wait in a queue, so a process that
/// writes without a pause does not starve the others.
///
/// Threads: an object is not thread-safe. Open one for each thread.
///
/// Errors: operations return failures. The first I/O error poisons the store, as in SqliteStorage:
/// every later call fails with the same error. The process has to end then. An exception of `work`
/// rolls the transaction back and leaves `apply`.
class FencedStore {
 public:
  /// The cells of a store during a transaction. Valid only while `work` runs.
  class Transaction {
   public:
    virtual ~Transaction() = default;
    virtual Expected<std::optional<Bytes>> read(std::string_view key) = 0;
    /// Keys are at most 512 bytes, values at most 1 MiB.
    virtual Expected<> write(std::string_view key, const Bytes& value) = 0;
    virtual Expected<> erase(std::string_view key) = 0;
    /// Calls `visit` for each cell whose key begins with `prefix`, in the order of the keys.
    /// `visit` must not write.
    virtual Expected<> scan(std::string_view prefix,
                            const std::function<void(std::string_view, const Bytes&)>& visit) = 0;
  };

  /// Opens the store in `file`, and creates it, with mode 0600, if there is none. Beside the file
  /// are SQLite's `-wal` and `-shm` and the lock `.turn`.
  ///
  /// Fails with `storage_refused` if the file is corrupt, is not a fenced store, has a newer
  /// format, is accessible to other users, or is on a network file system. Fails with `io_error` if
  /// the disk fails or the directory does not exist.
  static Expected<std::unique_ptr<FencedStore>> open(const std::filesystem::path& file,
                                                     const FencedOptions& options = {});
  FencedStore(const FencedStore&) = delete;
  FencedStore& operator=(const FencedStore&) = delete;
  ~FencedStore();

  /// Runs one transaction in the name of `group`. `work` may read, decide and write. If `work`
  /// fails or throws, the store is unchanged.
  ///
  /// Fails if the store has seen a group with a greater number; `is_fenced_off` is true for that
  /// failure. Fails with `temporary` if other processes wrote for longer than `patience`, and with
  /// the failure of `work` if `work` fails.
  Expected<> apply(const GroupNumber& group, const std::function<Expected<>(Transaction&)>& work);

  /// Writes one cell in a transaction of its own, under the same rules as `apply`.
  Expected<> write(const GroupNumber& group, std::string_view key, const Bytes& value);

  /// Reads one cell. Reading needs no group number: every process may read.
  Expected<std::optional<Bytes>> read(std::string_view key);

  /// The highest group number that the store has seen; none in a new store.
  Expected<std::optional<GroupNumber>> highest();

 private:
  class Store;
  explicit FencedStore(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

/// True if the failure means that the store refused a group because it has seen a greater group
/// number. The coordinator of that group is outdated and has to stop. The text of the failure names
/// both numbers.
[[nodiscard]] bool is_fenced_off(const Failure& failure);

}  // namespace storage
}  // namespace muster
