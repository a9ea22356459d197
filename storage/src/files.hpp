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

/// What the file system says of a path itself; a symbolic link is not followed.
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

/// The file system that a directory is on.
struct FileSystemFacts {
  std::uint64_t type{};        ///< statfs's f_type
  std::uint64_t free_bytes{};  ///< for this user
};

/// Held as long as it lives.
struct Lock {
  virtual ~Lock() = default;
};

/// `lock` is null when others hold it; `holder` is the pid that the file names, if it names one.
struct LockAttempt {
  std::unique_ptr<Lock> lock;
  std::optional<pid_t> holder;
};

enum class LockKind {
  exclusive,  ///< makes the file where there is none, and names this process in it
  shared,     ///< changes nothing
};

/// Every step on directories and files that storage takes outside SQLite, one system call or few
/// each, so that tests can cut the power between any two. Errors are errno's.
class Files {
 public:
  template <class T = void>
  using Result = boost::system::result<T>;
  using Path = std::filesystem::path;

  virtual ~Files() = default;

  virtual Result<Path> absolute(const Path& path) = 0;
  /// None where there is nothing of that name.
  virtual Result<std::optional<FileFacts>> look(const Path& path) = 0;
  virtual Result<FileSystemFacts> file_system(const Path& directory) = 0;
  /// The user that this process acts as.
  virtual std::uint32_t user() = 0;
  /// Makes a directory of mode 0700.
  virtual Result<> make_directory(const Path& path) = 0;
  /// Makes the entries of the directory durable.
  virtual Result<> sync_directory(const Path& path) = 0;
  /// Makes a file of mode 0600 with these bytes, which are not durable yet. Fails where there is
  /// one.
  virtual Result<> create(const Path& path, std::string_view bytes) = 0;
  /// Writes over a part of a file, which is not durable yet. Of which file: see `read`.
  virtual Result<> overwrite(const Path& path, std::uint64_t offset, std::string_view bytes) = 0;
  virtual Result<> sync_file(const Path& path) = 0;
  virtual Result<> rename(const Path& from, const Path& to) = 0;
  virtual Result<> remove(const Path& path) = 0;
  /// The first bytes of a file, at most so many. Never of one that SQLite has open here: closing it
  /// would drop SQLite's locks.
  virtual Result<std::string> read(const Path& path, std::size_t most) = 0;
  virtual Result<LockAttempt> lock(const Path& path, LockKind kind) = 0;
};

/// The files of the system.
Files& system_files();

}  // namespace muster::storage
