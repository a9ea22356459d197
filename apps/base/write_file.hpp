#pragma once

#include <muster/values/failure.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace muster::apps {

/// Fails with the system's reason if the file cannot be written. Its contents stay.
inline Expected<> ensure_writable(const std::filesystem::path& path) {
  errno = 0;
  if (std::ofstream(path, std::ios::binary | std::ios::app)) return {};
  return Failure{ExitCode::io_error, "cannot write " + path.string() + ": " + std::strerror(errno)};
}

/// Replaces the contents of the file. Fails with the system's reason.
inline Expected<> write_file(const std::filesystem::path& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return Failure{ExitCode::io_error, "cannot write " + path.string() + ": " + std::strerror(errno)};
}

}  // namespace muster::apps
