#include "directory.hpp"

#include "database.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace muster::storage {

namespace {

constexpr std::pair<std::uint64_t, std::string_view> network_file_systems[] = {
    {0x6969, "NFS"},      {0x517B, "SMB"},      {0xFF534D42, "SMB"},        {0xFE534D42, "SMB"},
    {0x65735546, "FUSE"}, {0x01021997, "9P"},   {0x5346414F, "AFS"},        {0x6B414653, "AFS"},
    {0x00C36400, "Ceph"}, {0x73757245, "Coda"}, {0x0BD00BD0, "Lustre"},     {0x0BD00BD3, "Lustre"},
    {0x47504653, "GPFS"}, {0x564C, "NCP"},      {0x786F4256, "VirtualBox"}, {0xBACBACBC, "VMware"},
};

std::string octal(std::uint32_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

// Refuses a file or directory that other users can reach, or that belongs to another user.
Expected<> check_private(Files& files, const std::filesystem::path& path, const FileFacts& facts) {
  const bool directory = facts.kind == FileFacts::Kind::directory;
  if (facts.owner != files.user())
    return refused(path, "belongs to user " + std::to_string(facts.owner) +
                             ", but this process runs as user " + std::to_string(files.user()) +
                             ": start the node as its owner");
  if ((facts.mode & 077U) != 0)
    return refused(path, "is accessible to other users (mode " + octal(facts.mode) +
                             "): check its contents, then chmod " + (directory ? "0700" : "0600"));
  if (!directory && facts.links != 1)
    return refused(path,
                   "has " + std::to_string(facts.links) + " names (hard links): remove the others");
  return {};
}

}  // namespace

bool is_of_store(const std::filesystem::path& file, const std::filesystem::path& directory) {
  const StorePaths paths(directory);
  return file == paths.lock || file.string().starts_with(paths.file.string());
}

Failure step_failure(std::string_view doing, const std::filesystem::path& file,
                     const boost::system::error_code& why) {
  if (why == boost::system::errc::too_many_files_open ||
      why == boost::system::errc::too_many_files_open_in_system)
    return no_descriptors(doing, file);
  return io_failure(doing, file, why.message());
}

std::optional<std::string_view> network_file_system(std::uint64_t type) {
  for (const auto& [number, name] : network_file_systems)
    if (type == number) return name;
  return std::nullopt;
}

Expected<> check_directory(Files& files, const StorePaths& paths, const OpenOptions& options) {
  const auto& directory = paths.directory;
  auto facts = files.look(directory);
  if (!facts) return step_failure("look at", directory, facts.error());
  if (!*facts)
    return refused(directory, "does not exist: name the directory of a node's safe storage");
  if ((*facts)->kind == FileFacts::Kind::link)
    return refused(directory, "is a symbolic link: name the directory itself");
  if ((*facts)->kind != FileFacts::Kind::directory)
    return refused(directory, "is not a directory: name a directory");
  if (auto own = check_private(files, directory, **facts); !own) return own.error();
  auto system = files.file_system(directory);
  if (!system) return step_failure("look at the file system of", directory, system.error());
  const auto name = network_file_system(system->type);
  if (name && !options.force_network_file_system)
    return refused(directory, "is on a network file system (" + std::string(*name) +
                                  "), whose locks and syncs may be unreliable: use a local disk, "
                                  "or set force_network_file_system");
  return {};
}

Expected<> prepare_directory(Files& files, const StorePaths& paths, const OpenOptions& options) {
  const auto& directory = paths.directory;
  auto facts = files.look(directory);
  if (!facts) return step_failure("look at", directory, facts.error());
  if (!*facts) {
    if (auto made = files.make_directory(directory); !made) {
      if (made.error() == boost::system::errc::no_such_file_or_directory)
        return Failure{ExitCode::bad_configuration, "cannot make " + directory.string() + ": " +
                                                        directory.parent_path().string() +
                                                        " does not exist: make it first"};
      return step_failure("make", directory, made.error());
    }
  }
  return check_directory(files, paths, options);
}

Expected<> check_room(Files& files, const StorePaths& paths, std::uint64_t needed) {
  auto system = files.file_system(paths.directory);
  if (!system) return step_failure("look at the file system of", paths.directory, system.error());
  if (system->free_bytes >= needed) return {};
  return Failure{ExitCode::io_error, "cannot open the safe storage in " + paths.directory.string() +
                                         ": " + std::to_string(system->free_bytes) +
                                         " bytes are free on its disk, " + std::to_string(needed) +
                                         " are needed: make room, then start the node again"};
}

Expected<std::optional<FileFacts>> look_at_own(Files& files, const std::filesystem::path& file) {
  auto facts = files.look(file);
  if (!facts) return step_failure("look at", file, facts.error());
  if (!*facts) return *facts;
  if ((*facts)->kind == FileFacts::Kind::link)
    return refused(file, "is a symbolic link: move the file itself there");
  if ((*facts)->kind != FileFacts::Kind::regular)
    return refused(file, "is not an ordinary file: move it away");
  if (auto own = check_private(files, file, **facts); !own) return own.error();
  return *facts;
}

Expected<std::unique_ptr<Lock>> take_lock(Files& files, const StorePaths& paths, LockKind kind) {
  if (auto own = look_at_own(files, paths.lock); !own) return own.error();
  auto attempt = files.lock(paths.lock, kind);
  if (!attempt) return step_failure("lock", paths.lock, attempt.error());
  if (attempt->lock) return std::move(attempt->lock);
  const std::string holder =
      attempt->holder ? "process " + std::to_string(*attempt->holder) : "another process";
  return Failure{ExitCode::temporary, "the safe storage in " + paths.directory.string() +
                                          " is in use by " + holder +
                                          ": end that process, then try again"};
}

}  // namespace muster::storage
