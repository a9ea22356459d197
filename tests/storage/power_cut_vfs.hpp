#pragma once

#include "storage/simulated_disk.hpp"

#include <files.hpp>  // in storage/src: the steps that a store performs without SQLite

#include <memory>
#include <string>

namespace muster::test {

/// A SQLite VFS on a SimulatedDisk, which must outlive it. The VFS syncs the same files and
/// directories as the system's VFS, and reports the same sector size and characteristics.
class PowerCutVfs {
 public:
  explicit PowerCutVfs(SimulatedDisk& disk);
  PowerCutVfs(const PowerCutVfs&) = delete;
  PowerCutVfs& operator=(const PowerCutVfs&) = delete;
  ~PowerCutVfs();
  [[nodiscard]] const std::string& name() const;

 private:
  struct Registered;
  std::unique_ptr<Registered> registered_;
};

/// The steps that a store performs without SQLite, on the same disk.
class DiskFiles final : public storage::Files {
 public:
  explicit DiskFiles(SimulatedDisk& disk) : disk_(disk) {}

  Result<Path> absolute(const Path& path) override { return path; }
  Result<std::optional<storage::FileFacts>> look(const Path& path) override;
  Result<storage::FileSystemFacts> file_system(const Path& directory) override;
  std::uint32_t user() override { return 1000; }
  Result<> make_directory(const Path& path) override;
  Result<> sync_directory(const Path& path) override;
  Result<> create(const Path& path, std::string_view bytes) override;
  Result<> overwrite(const Path& path, std::uint64_t offset, std::string_view bytes) override;
  Result<> sync_file(const Path& path) override;
  Result<> rename(const Path& from, const Path& to) override;
  Result<> remove(const Path& path) override;
  Result<std::string> read(const Path& path, std::size_t most) override;
  Result<storage::LockAttempt> lock(const Path& path, storage::LockKind kind) override;

 private:
  SimulatedDisk& disk_;
};

}  // namespace muster::test
