#pragma once

#include <boost/system/result.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace muster::storage {

/// The attributes of a path. A symbolic link is not followed.
struct FileFacts {
  enum class Kind { regular, directory, link, other };
  Kind kind{};
  std::uint64_t device{};
  std::uint64_t inode{};
  std::uint64_t links{};
  std::uint32_t owner{};
  std::uint32_t mode{};  ///< the permission bits
  std::uint64_t size{};
};

/// The file system that contains a directory.
struct FileSystemFacts {
  std::uint64_t type{};        ///< statfs's f_type
  std::uint64_t free_bytes{};  ///< available to this user
};

/// A lock, which is released when this object is destroyed.
struct Lock {
  virtual ~Lock() = default;
};

/// The result of an attempt to lock. `lock` is null if another process holds it. `holder` is the
/// pid in the file, if the file names one.
struct LockAttempt {
  std::unique_ptr<Lock> lock;
  std::optional<pid_t> holder;
};

enum class LockKind {
  exclusive,  ///< makes the file if necessary, and writes this process's pid into it
  shared,     ///< changes nothing in the file
};

/// Every file operation of storage outside SQLite. Each function is one system call or a few, so
/// that tests can cut the power between any two. Errors are values of errno.
class Files {
 public:
  template <class T = void>
  using Result = boost::system::result<T>;
  using Path = std::filesystem::path;

  virtual ~Files() = default;

  virtual Result<Path> absolute(const Path& path) = 0;
  /// The attributes of a path; none if nothing has that name.
  virtual Result<std::optional<FileFacts>> look(const Path& path) = 0;
  virtual Result<FileSystemFacts> file_system(const Path& directory) = 0;
  /// The effective user of this process.
  virtual std::uint32_t user() = 0;
  /// Makes a directory of mode 0700.
  virtual Result<> make_directory(const Path& path) = 0;
  /// Makes the entries of the directory durable.
  virtual Result<> sync_directory(const Path& path) = 0;
  /// Makes a file of mode 0600 with these bytes. The bytes are not durable yet. Fails if the file
  /// exists.
  virtual Result<> create(const Path& path, std::string_view bytes) = 0;
  /// Overwrites a part of a file. The bytes are not durable yet. Never call it for a file that
  /// SQLite has open in this process (see `read`).
  virtual Result<> overwrite(const Path& path, std::uint64_t offset, std::string_view bytes) = 0;
  virtual Result<> sync_file(const Path& path) = 0;
  virtual Result<> rename(const Path& from, const Path& to) = 0;
  virtual Result<> remove(const Path& path) = 0;
  /// Reads the first bytes of a file, at most `most`. Never call it for a file that SQLite has open
  /// in this process: closing the file would release SQLite's locks.
  virtual Result<std::string> read(const Path& path, std::size_t most) = 0;
  virtual Result<LockAttempt> lock(const Path& path, LockKind kind) = 0;
};

/// The real files of this machine.
Files& system_files();

}  // namespace muster::storage
