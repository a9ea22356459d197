#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::certificates {

namespace fs = std::filesystem;

Failure cannot(const char* what, const fs::path& file, const std::string& why) {
  return {ExitCode::io_error, std::string("cannot ") + what + ' ' + file.string() + ": " + why};
}

namespace {

Failure cannot(const char* what, const fs::path& file) {
  return certificates::cannot(what, file, std::strerror(errno));
}

bool write_whole(int file, const std::string& bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t size = ::write(file, bytes.data() + written, bytes.size() - written);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    written += static_cast<std::size_t>(size);
  }
  return ::fsync(file) == 0;
}

Expected<> write_file(const fs::path& file, const std::string& bytes, bool replace, mode_t mode) {
  const fs::path fresh = file.string() + ".new";
  ::unlink(fresh.c_str());  // an earlier command that was killed may have left it
  const int opened = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (opened < 0) return cannot("make", fresh);
  const bool written = write_whole(opened, bytes);
  const Failure failure = cannot("write", fresh);
  ::close(opened);
  const char* const from = fresh.c_str();
  int named = 0;
  if (written) named = replace ? ::rename(from, file.c_str()) : ::link(from, file.c_str());
  const Failure unnamed = cannot("make", file);
  if (!written || !replace || named != 0) ::unlink(from);
  if (!written) return failure;
  if (named != 0) return unnamed;
  return {};
}

}  // namespace

Expected<std::string> read_file(const fs::path& file) {
  constexpr std::size_t longest = 1024 * 1024;
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string bytes(longest, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (!in && !in.eof())
    return Failure{ExitCode::bad_configuration,
                   "cannot read " + file.string() + ": " + std::strerror(errno)};
  return bytes;
}

Expected<> make_private_directory(const fs::path& directory) {
  std::error_code error;
  if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
  if (::mkdir(directory.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return cannot("make", directory);
  if (!fs::is_empty(directory, error) || error)
    return Failure{ExitCode::bad_configuration,
                   directory.string() + " already exists and is not empty: name a new directory"};
  if (::chmod(directory.c_str(), 0700) != 0) return cannot("protect", directory);
  return {};
}

Expected<> write_private(const fs::path& file, const std::string& bytes, bool replace) {
  return write_file(file, bytes, replace, 0600);
}
Expected<> write_public(const fs::path& file, const std::string& bytes, bool replace) {
  return write_file(file, bytes, replace, 0644);
}

}  // namespace muster::certificates
