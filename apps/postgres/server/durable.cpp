#include "apps/postgres/server/durable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace muster::postgres {
namespace {

Failure failure_of(const char* what, const std::filesystem::path& path) {
  return {ExitCode::io_error,
          std::string("cannot ") + what + " " + path.string() + ": " + std::strerror(errno)};
}

Expected<> sync_directory_of(const std::filesystem::path& path) {
  const auto directory = path.parent_path().empty() ? "." : path.parent_path();
  const apps::Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.fd()) != 0) return failure_of("sync", directory);
  return {};
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

}  // namespace

Expected<> write_durably(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path beside = path.string() + ".tmp";
  ::unlink(beside.c_str());  // a file of a killed process, or one from another user
  const apps::Descriptor file(
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file || !write_all(file.fd(), text) || ::fsync(file.fd()) != 0)
    return failure_of("write", beside);
  return rename_durably(beside, path);
}

Expected<> remove_durably(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return failure_of("remove", path);
  }
  return sync_directory_of(path);
}

Expected<> rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return failure_of("rename", from);
  return sync_directory_of(to);
}

Expected<std::optional<std::string>> read_text(const std::filesystem::path& path) {
  const apps::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return std::optional<std::string>();
    return failure_of("read", path);
  }
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t size = ::read(file.fd(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failure_of("read", path);
    if (size == 0) return std::optional(std::move(text));
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

Expected<std::string> read_part(const std::filesystem::path& path, std::uint64_t at,
                                std::size_t size) {
  const apps::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::string();
  if (!file) return failure_of("read", path);
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t more =
        ::pread(file.fd(), bytes.data() + got, size - got, static_cast<off_t>(at + got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return failure_of("read", path);
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace muster::postgres
