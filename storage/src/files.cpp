#include "files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace muster::storage {

namespace {

boost::system::error_code last_error() {
  return {errno, boost::system::system_category()};
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] bool open() const { return descriptor_ >= 0; }
  [[nodiscard]] int number() const { return descriptor_; }

 private:
  int descriptor_;
};

Files::Result<> write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Files::Result<std::string> read_most(int descriptor, std::size_t most) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return last_error();
  std::string bytes(std::min(most, static_cast<std::size_t>(facts.st_size)), '\0');
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t got = ::read(descriptor, bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return last_error();
    if (got == 0) break;
    at += static_cast<std::size_t>(got);
  }
  bytes.resize(at);
  return bytes;
}

// A lock of an open file description. The lock belongs to the descriptor and not to the process. So
// other code of the process can open and close the same file, and the lock stays.
struct DescriptorLock final : Lock {
  DescriptorLock(Descriptor held, bool names_holder)
      : descriptor(std::move(held)), named(names_holder) {}
  ~DescriptorLock() override {
    if (named && ::ftruncate(descriptor.number(), 0) != 0) return;  // an old pid remains
  }
  Descriptor descriptor;
  bool named;
};

std::optional<pid_t> pid_in(int descriptor) {
  const auto text = read_most(descriptor, 32);
  pid_t pid = 0;
  if (!text) return std::nullopt;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), pid);
  if (parsed.ec != std::errc() || pid <= 0) return std::nullopt;
  return pid;
}

class SystemFiles final : public Files {
 public:
  Result<Path> absolute(const Path& path) override {
    std::error_code error;
    Path result = std::filesystem::absolute(path, error).lexically_normal();
    if (error) return boost::system::error_code(error);
    // "a/b/" names the same directory as "a/b". Without the slash, a symbolic link is visible.
    return result.has_filename() ? result : result.parent_path();
  }

  Result<std::optional<FileFacts>> look(const Path& path) override {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) {
      if (errno == ENOENT) return std::optional<FileFacts>();
      return last_error();
    }
    FileFacts facts;
    facts.kind = S_ISREG(found.st_mode)   ? FileFacts::Kind::regular
                 : S_ISDIR(found.st_mode) ? FileFacts::Kind::directory
                 : S_ISLNK(found.st_mode) ? FileFacts::Kind::link
                                          : FileFacts::Kind::other;
    facts.device = found.st_dev;
    facts.inode = found.st_ino;
    facts.links = found.st_nlink;
    facts.owner = found.st_uid;
    facts.mode = found.st_mode & 07777U;
    facts.size = static_cast<std::uint64_t>(found.st_size);
    return std::optional<FileFacts>(facts);
  }

  Result<FileSystemFacts> file_system(const Path& directory) override {
    struct statfs found {};
    if (::statfs(directory.c_str(), &found) != 0) return last_error();
    return FileSystemFacts{
        static_cast<std::uint64_t>(found.f_type) & 0xFFFFFFFFU,
        static_cast<std::uint64_t>(found.f_bavail) * static_cast<std::uint64_t>(found.f_bsize)};
  }

  std::uint32_t user() override { return ::geteuid(); }

  Result<> make_directory(const Path& path) override {
    if (::mkdir(path.c_str(), 0700) != 0) return last_error();
    return {};
  }

  Result<> sync_directory(const Path& path) override { return sync(path, O_RDONLY | O_DIRECTORY); }

  Result<> create(const Path& path, std::string_view bytes) override {
    const Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.open()) return last_error();
    return write_all(file.number(), bytes);
  }

  Result<> overwrite(const Path& path, std::uint64_t offset, std::string_view bytes) override {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.open() || ::lseek(file.number(), static_cast<off_t>(offset), SEEK_SET) < 0)
      return last_error();
    return write_all(file.number(), bytes);
  }

  Result<> sync_file(const Path& path) override { return sync(path, O_WRONLY | O_NOFOLLOW); }

  Result<> rename(const Path& from, const Path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return last_error();
    return {};
  }

  Result<> remove(const Path& path) override {
    if (::unlink(path.c_str()) != 0) return last_error();
    return {};
  }

  Result<std::string> read(const Path& path, std::size_t most) override {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.open()) return last_error();
    return read_most(file.number(), most);
  }

  Result<LockAttempt> lock(const Path& path, LockKind kind) override {
    const bool exclusive = kind == LockKind::exclusive;
    const int flags = (exclusive ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW;
    Descriptor file(::open(path.c_str(), flags, 0600));
    if (!file.open()) return last_error();
    struct flock whole {};
    whole.l_type = static_cast<short>(exclusive ? F_WRLCK : F_RDLCK);
    whole.l_whence = SEEK_SET;
    if (::fcntl(file.number(), F_OFD_SETLK, &whole) != 0) {
      if (errno != EAGAIN && errno != EACCES) return last_error();
      return LockAttempt{nullptr, pid_in(file.number())};
    }
    if (exclusive) {
      if (::ftruncate(file.number(), 0) != 0) return last_error();
      if (auto named = write_all(file.number(), std::to_string(::getpid()) + "\n"); !named)
        return named.error();
    }
    return LockAttempt{std::make_unique<DescriptorLock>(std::move(file), exclusive), std::nullopt};
  }

 private:
  static Result<> sync(const Path& path, int flags) {
    const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
    if (!file.open() || ::fsync(file.number()) != 0) return last_error();
    return {};
  }
};

}  // namespace

Files& system_files() {
  static SystemFiles files;
  return files;
}

}  // namespace muster::storage
