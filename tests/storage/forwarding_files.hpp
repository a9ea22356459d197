#pragma once

#include <files.hpp>  // of storage/src

#include <string_view>

namespace muster::test {

/// The system's files. Each step that changes something first calls `before`.
class ForwardingFiles : public storage::Files {
 public:
  Result<Path> absolute(const Path& path) override { return files_.absolute(path); }
  Result<std::optional<storage::FileFacts>> look(const Path& path) override {
    return files_.look(path);
  }
  Result<storage::FileSystemFacts> file_system(const Path& directory) override {
    return files_.file_system(directory);
  }
  std::uint32_t user() override { return files_.user(); }
  Result<> make_directory(const Path& path) override {
    before("make directory");
    return files_.make_directory(path);
  }
  Result<> sync_directory(const Path& path) override {
    before("sync directory");
    return files_.sync_directory(path);
  }
  Result<> create(const Path& path, std::string_view bytes) override {
    before("create");
    return files_.create(path, bytes);
  }
  Result<> overwrite(const Path& path, std::uint64_t offset, std::string_view bytes) override {
    before("overwrite");
    return files_.overwrite(path, offset, bytes);
  }
  Result<> sync_file(const Path& path) override {
    before("sync file");
    return files_.sync_file(path);
  }
  Result<> rename(const Path& from, const Path& to) override {
    before("rename");
    return files_.rename(from, to);
  }
  Result<> remove(const Path& path) override {
    before("remove");
    return files_.remove(path);
  }
  Result<std::string> read(const Path& path, std::size_t most) override {
    return files_.read(path, most);
  }
  Result<storage::LockAttempt> lock(const Path& path, storage::LockKind kind) override {
    before("lock");
    return files_.lock(path, kind);
  }

 protected:
  virtual void before(std::string_view) {}

 private:
  storage::Files& files_ = storage::system_files();
};

}  // namespace muster::test
