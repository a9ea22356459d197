#pragma once

#include <muster/safe_storage.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace MUSTER_EXPORT muster {
namespace storage {

class Files;

/// Whose store it is. Stamped into it when it is made; every other identity is refused.
struct Identity {
  std::string cluster;
  NodeId node;
};

struct OpenOptions {
  /// Open a store on NFS, SMB, FUSE and the like all the same, whose locks and syncs may lie.
  bool force_network_file_system = false;
  /// The SQLite VFS to use; empty for the system's. Tests cut the power and fail I/O with it.
  std::string vfs;
  /// The steps outside SQLite; null for the system's. Has to outlive the store.
  Files* files = nullptr;
  /// Room is reserved for a log of so many pages of 4 KiB, which goes back into the file when there
  /// is time for it (`tend`), or it is nearly full.
  std::uint32_t log_pages = 1000;
};

/// Whether that is a file of the store in `directory`, or may become one.
bool is_of_store(const std::filesystem::path& file, const std::filesystem::path& directory);

/// Safe storage in one directory, of mode 0700: `safe.sqlite`, its log `safe.sqlite-wal`, and
/// `lock`.
///
/// One SQLite file in write-ahead mode, every commit synced, opened exclusively. What is refused at
/// opening is not touched. The first error poisons the store: all that follows fails with it.
class SqliteStorage final : public SafeStorage {
 public:
  /// Opens the store of `identity`; makes the directory and a new store where there is none.
  ///
  /// Fails with `storage_refused` when the store is corrupt, truncated, of another cluster, node or
  /// program, of a newer format, reachable by others (mode, links) or on a network file system;
  /// with `temporary` when another process holds it, whose pid is named, or no descriptor is left;
  /// with `io_error` when the disk fails or has too little room; with `bad_configuration` when the
  /// directory's parent does not exist.
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
  /// Brings the log back into the file, where it is half full.
  void tend() override;

 private:
  class Store;
  explicit SqliteStorage(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

}  // namespace storage
}  // namespace muster
