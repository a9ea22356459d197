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

/// What makes a FencedStore, beside its file.
struct FencedOptions {
  /// One file may hold the cells of several applications: each name has its own, and its own
  /// highest group number.
  std::string name = "main";
  /// How long one waits for what other processes are writing.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  /// As in OpenOptions.
  bool force_network_file_system = false;
  std::string vfs{};
};

/// A resource that refuses the past: cells in one SQLite file that several nodes, or processes, may
/// use at once, and that nobody changes whose group number is smaller than one seen before
/// (docs/fencing.md).
///
/// The highest group number is kept in the very transaction of what it permits: whatever a newer
/// group has read or written, nothing of an older one comes after it. Every transaction is durable
/// when it returns. Who writes waits for its turn: nobody keeps others out by writing without a
/// pause. Not thread-safe: open one for each thread. The first I/O error poisons the
/// store, as in SqliteStorage: whoever gets it ends the process.
class FencedStore {
 public:
  /// The cells, while they are changed.
  class Transaction {
   public:
    virtual ~Transaction() = default;
    virtual Expected<std::optional<Bytes>> read(std::string_view key) = 0;
    /// Keys are at most 512 bytes, values 1 MiB.
    virtual Expected<> write(std::string_view key, const Bytes& value) = 0;
    virtual Expected<> erase(std::string_view key) = 0;
    /// Calls `visit` for each cell whose key begins with `prefix`, in the order of the keys. It
    /// must not write.
    virtual Expected<> scan(std::string_view prefix,
                            const std::function<void(std::string_view, const Bytes&)>& visit) = 0;
  };

  /// Opens the store in that file, of mode 0600; makes one where there is none. Beside it stand
  /// SQLite's `-wal` and `-shm`, and `.turn`, a lock.
  ///
  /// Fails with `storage_refused` where the file is corrupt, none of ours, of a newer format,
  /// reachable by others or on a network file system; with `io_error` where the disk fails, or its
  /// directory is not there.
  static Expected<std::unique_ptr<FencedStore>> open(const std::filesystem::path& file,
                                                     const FencedOptions& options = {});
  FencedStore(const FencedStore&) = delete;
  FencedStore& operator=(const FencedStore&) = delete;
  ~FencedStore();

  /// One transaction in the name of that group. `work` may read, decide, and write; where it fails
  /// or throws, nothing was changed.
  ///
  /// Fails as `is_fenced_off` says where a group with a greater number was here before; with
  /// `temporary` where others were writing for longer than the patience; or as `work` does.
  Expected<> apply(const GroupNumber& group, const std::function<Expected<>(Transaction&)>& work);

  /// One cell, in the same way.
  Expected<> write(const GroupNumber& group, std::string_view key, const Bytes& value);

  /// The cell of that key, whoever asks: reading only is for everybody.
  Expected<std::optional<Bytes>> read(std::string_view key);

  /// The highest group number that was here; none in a new store.
  Expected<std::optional<GroupNumber>> highest();

 private:
  class Store;
  explicit FencedStore(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

/// True for the failure of a group that was refused because a greater number was there before: its
/// coordinator is of the past, and has to stop. The failure names both numbers.
[[nodiscard]] bool is_fenced_off(const Failure& failure);

}  // namespace storage
}  // namespace muster
