#pragma once

#include <muster/safe_storage.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace MUSTER_EXPORT muster {
namespace storage {

class Files;

/// The owner of a store: a cluster and a node. It is written into the store when the store is made.
/// The store cannot be opened with any other identity.
struct Identity {
  std::string cluster;
  NodeId node;
};

struct OpenOptions {
  /// If true, a store on NFS, SMB, FUSE or a similar file system is opened too, although locks and
  /// syncs there are not reliable.
  bool force_network_file_system = false;
  /// The name of the SQLite VFS to use; empty: the system's. Tests use it to cut the power and to
  /// fail I/O.
  std::string vfs;
  /// Performs the file operations outside SQLite; null: the system's. It has to outlive the store.
  Files* files = nullptr;
  /// Pages of 4 KiB that are reserved for the write-ahead log. The content of the log is copied
  /// into the file when there is time for it (`tend`), or when the log is nearly full.
  std::uint32_t log_pages = 1000;
};

/// True if `file` is a file of the store in `directory`, or can become one.
bool is_of_store(const std::filesystem::path& file, const std::filesystem::path& directory);

/// Safe storage in one directory of mode 0700. The directory contains `safe.sqlite`, its log
/// `safe.sqlite-wal`, and `lock`.
///
///     auto store = muster::storage::SqliteStorage::open("node-1", {"demo", muster::NodeId{1}});
///     if (!store) return fail(store.error());  // what, where, and what to do
///
/// The store is one SQLite file in write-ahead mode. Every commit is synced, and the file is open
/// for this process alone. A store that is refused at opening is not changed.
///
/// Threads: not thread-safe. Use a store from one thread only.
///
/// Errors: operations return failures and throw nothing of their own. A key or a value that is too
/// large fails with `hook_failed`, and the store goes on. Every other failure poisons the store:
/// every later operation fails with it. The process has to end then, and the next life reads what
/// is on the disk.
class SqliteStorage final : public SafeStorage {
 public:
  /// Opens the store of `identity`. Makes the directory and a new store if there is none.
  ///
  /// Fails with
  ///
  /// - `storage_refused` if the store is corrupt, truncated, of another cluster, node or program,
  ///   of a newer format, accessible to other users (by its mode or by hard links), or on a network
  ///   file system;
  /// - `temporary` if another process, whose pid the failure names, uses the store, or if the
  ///   process has no descriptor left;
  /// - `io_error` if the disk fails or has too little free space;
  /// - `bad_configuration` if the parent of the directory does not exist.
  static Expected<std::unique_ptr<SqliteStorage>> open(const std::filesystem::path& directory,
                                                       const Identity& identity,
                                                       const OpenOptions& options = {});
  ~SqliteStorage() override;

  Expected<SafeState> load() override;
  Expected<> save(const SafeState& safe) override;
  Expected<> write(const CellBatch& batch) override;
  Expected<std::optional<Bytes>> read(std::string_view key) override;
  Expected<> scan(std::string_view prefix,
                  const std::function<void(std::string_view, const Bytes&)>& visit) override;
  /// Copies the content of the log into the file if the log is at least half full.
  void tend() override;

 private:
  class Store;
  explicit SqliteStorage(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

}  // namespace storage
}  // namespace muster
