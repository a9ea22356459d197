#pragma once

#include "files.hpp"

#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/failure.hpp>

#include <optional>
#include <string_view>

/// The directory of a store: its names, who may reach them, who holds them.

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
  std::filesystem::path fresh;    ///< the file until it is whole
  std::filesystem::path log;      ///< SQLite's write-ahead log
  std::filesystem::path journal;  ///< SQLite's rollback journal, before there is a log
  std::filesystem::path lock;
};

/// The name of a file system on which locks and syncs are another machine's or another program's
/// word; none for the others. `type` is statfs's f_type.
std::optional<std::string_view> network_file_system(std::uint64_t type);

/// Makes the directory where there is none; refuses one that others can reach or whose file system
/// is not to be trusted.
Expected<> prepare_directory(Files& files, const StorePaths& paths, const OpenOptions& options);

/// Refuses a directory that others can reach or whose file system is not to be trusted.
Expected<> check_directory(Files& files, const StorePaths& paths, const OpenOptions& options);

/// Refuses (with bytes) where less than this is free.
Expected<> check_room(Files& files, const StorePaths& paths, std::uint64_t needed);

/// A file of the store that nobody else can reach, by mode or by another name; none where there is
/// none.
Expected<std::optional<FileFacts>> look_at_own(Files& files, const std::filesystem::path& file);

/// The lock on the store; `temporary`, with the pid, where another process holds it.
Expected<std::unique_ptr<Lock>> take_lock(Files& files, const StorePaths& paths, LockKind kind);

/// A step that failed, as a failure: "cannot DOING FILE: WHY".
Failure step_failure(std::string_view doing, const std::filesystem::path& file,
                     const boost::system::error_code& why);

}  // namespace muster::storage
