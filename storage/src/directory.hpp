#pragma once

#include "files.hpp"

#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/failure.hpp>

#include <optional>
#include <string_view>

/// The directory of a store: the names of its files, its access rights, and its lock.

namespace muster::storage {

struct StorePaths {
  explicit StorePaths(const std::filesystem::path& where)
      : directory(where),
        file(where / "safe.sqlite"),
        fresh(where / "safe.sqlite.new"),
        log(where / "safe.sqlite-wal"),
        journal(where / "safe.sqlite-journal"),
        lock(where / "lock") {}

  std::filesystem::path directory;
  std::filesystem::path file;
  std::filesystem::path fresh;    ///< the store's file while it is being made
  std::filesystem::path log;      ///< SQLite's write-ahead log
  std::filesystem::path journal;  ///< SQLite's rollback journal, in use before the log exists
  std::filesystem::path lock;
};

/// The name of a file system whose locks and syncs depend on another machine or program, such as
/// NFS; none for other file systems. `type` is statfs's f_type.
std::optional<std::string_view> network_file_system(std::uint64_t type);

/// Makes the directory if it does not exist. Then checks it as `check_directory` does.
Expected<> prepare_directory(Files& files, const StorePaths& paths, const OpenOptions& options);

/// Refuses a directory that other users can reach, or one on a network file system.
Expected<> check_directory(Files& files, const StorePaths& paths, const OpenOptions& options);

/// Fails if the disk has fewer than `needed` bytes free. The failure names the free bytes and the
/// needed ones.
Expected<> check_room(Files& files, const StorePaths& paths, std::uint64_t needed);

/// The facts of one of the store's files; none if the file does not exist. Refuses a file that
/// other users can reach through its mode or through another name of it.
Expected<std::optional<FileFacts>> look_at_own(Files& files, const std::filesystem::path& file);

/// Takes the lock on the store. If another process has the lock, fails with `temporary` and names
/// the process's pid.
Expected<std::unique_ptr<Lock>> take_lock(Files& files, const StorePaths& paths, LockKind kind);

/// The failure of a file operation: "cannot DOING FILE: WHY".
Failure step_failure(std::string_view doing, const std::filesystem::path& file,
                     const boost::system::error_code& why);

}  // namespace muster::storage
