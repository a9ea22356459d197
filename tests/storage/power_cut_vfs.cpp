#include "storage/power_cut_vfs.hpp"

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <new>
#include <random>
#include <vector>

namespace muster::test {

namespace {

using Error = SimulatedDisk::Error;

// An open file, as SQLite sees it.
struct OpenFile {
  sqlite3_file base;
  SimulatedDisk* disk;
  SimulatedDisk::FilePtr file;
  std::string path;
  bool sync_directory;  // the next sync also syncs the directory, as in the system's VFS
  std::vector<std::unique_ptr<char[]>> shared;  // the log's index, in this process only
};

OpenFile& open_file(sqlite3_file* file) {
  return *reinterpret_cast<OpenFile*>(file);
}

int code_of(Error error, int otherwise) {
  if (error == Error::none) return SQLITE_OK;
  return error == Error::full ? SQLITE_FULL : otherwise;
}

int close_file(sqlite3_file* file) {
  open_file(file).~OpenFile();
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  auto& self = open_file(file);
  std::string bytes;
  const Error error = self.disk->read(*self.file, static_cast<std::uint64_t>(offset),
                                      static_cast<std::size_t>(size), bytes);
  if (error != Error::none) return SQLITE_IOERR_READ;
  std::memcpy(to, bytes.data(), bytes.size());
  if (bytes.size() == static_cast<std::size_t>(size)) return SQLITE_OK;
  std::memset(static_cast<char*>(to) + bytes.size(), 0,
              static_cast<std::size_t>(size) - bytes.size());
  return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  auto& self = open_file(file);
  return code_of(self.disk->write(*self.file, static_cast<std::uint64_t>(offset),
                                  {static_cast<const char*>(from), static_cast<std::size_t>(size)}),
                 SQLITE_IOERR_WRITE);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  auto& self = open_file(file);
  return code_of(self.disk->truncate(*self.file, static_cast<std::uint64_t>(size)),
                 SQLITE_IOERR_TRUNCATE);
}

int sync_file(sqlite3_file* file, int) {
  auto& self = open_file(file);
  if (self.disk->sync(*self.file) != Error::none) return SQLITE_IOERR_FSYNC;
  if (self.sync_directory) {
    self.sync_directory = false;
    // A failure of this step is ignored, as in the system's VFS.
    if (self.disk->syncs_only_own_name) {
      self.disk->sync_name(self.path);
    } else {
      self.disk->sync_directory(std::filesystem::path(self.path).parent_path().string());
    }
  }
  return self.disk->off() ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(open_file(file).file->cached.size());
  return SQLITE_OK;
}

int check_reserved_lock(sqlite3_file*, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}

int file_control(sqlite3_file* file, int operation, void* argument) {
  auto& self = open_file(file);
  if (operation == SQLITE_FCNTL_MMAP_SIZE) {
    *static_cast<sqlite3_int64*>(argument) = 0;
    return SQLITE_OK;
  }
  if (operation != SQLITE_FCNTL_HAS_MOVED) return SQLITE_NOTFOUND;
  *static_cast<int*>(argument) = self.disk->find(self.path) == self.file ? 0 : 1;
  return SQLITE_OK;
}

int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** to) {
  auto& shared = open_file(file).shared;
  const auto wanted = static_cast<std::size_t>(region) + 1;
  while (extend != 0 && shared.size() < wanted)
    shared.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
  *to = shared.size() < wanted ? nullptr : shared[wanted - 1].get();
  return SQLITE_OK;
}

int unmap_shared(sqlite3_file* file, int) {
  open_file(file).shared.clear();
  return SQLITE_OK;
}

const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = [](sqlite3_file*) { return 4096; },
    .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; },
    .xShmMap = map_shared,
    .xShmLock = [](sqlite3_file*, int, int, int) { return SQLITE_OK; },
    .xShmBarrier = [](sqlite3_file*) {},
    .xShmUnmap = unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

SimulatedDisk& disk_of(sqlite3_vfs* vfs) {
  return *static_cast<SimulatedDisk*>(vfs->pAppData);
}

int vfs_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  SimulatedDisk& disk = disk_of(vfs);
  if (name == nullptr || disk.note_open() != Error::none) return SQLITE_CANTOPEN;
  SimulatedDisk::FilePtr found = disk.find(name);
  if (!found) {
    if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    if (const Error error = disk.create(name, false, found); error != Error::none)
      return code_of(error, SQLITE_CANTOPEN);
  }
  const bool beside = (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
  new (file) OpenFile{{&methods}, &disk, found, name, beside, {}};
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int vfs_delete(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  SimulatedDisk& disk = disk_of(vfs);
  if (!disk.find(name)) return SQLITE_IOERR_DELETE_NOENT;
  if (disk.remove(name) != Error::none) return SQLITE_IOERR_DELETE;
  if (sync_directory == 0) return SQLITE_OK;
  return disk.sync_directory(std::filesystem::path(name).parent_path().string()) == Error::none
             ? SQLITE_OK
             : SQLITE_IOERR_DIR_FSYNC;
}

int vfs_access(sqlite3_vfs* vfs, const char* name, int flags, int* answer) {
  const auto file = disk_of(vfs).find(name);
  // As in the system's VFS, an empty file counts as missing when SQLite asks whether it exists.
  *answer = file && (flags != SQLITE_ACCESS_EXISTS || !file->cached.empty()) ? 1 : 0;
  return SQLITE_OK;
}

int vfs_full_pathname(sqlite3_vfs*, const char* name, int size, char* to) {
  sqlite3_snprintf(size, to, "%s", name);
  return SQLITE_OK;
}

int vfs_randomness(sqlite3_vfs*, int size, char* to) {
  static thread_local std::mt19937_64 random(4711);
  for (int i = 0; i < size; ++i) to[i] = static_cast<char>(random());
  return size;
}

int vfs_current_time(sqlite3_vfs*, double* days) {
  *days = 2460000.5;
  return SQLITE_OK;
}

}  // namespace

struct PowerCutVfs::Registered {
  std::string name;
  sqlite3_vfs vfs{};
};

PowerCutVfs::PowerCutVfs(SimulatedDisk& disk) : registered_(std::make_unique<Registered>()) {
  static std::atomic<int> number = 0;
  registered_->name = "power-cut-" + std::to_string(++number);
  sqlite3_vfs& vfs = registered_->vfs;
  vfs.iVersion = 1;
  vfs.szOsFile = sizeof(OpenFile);
  vfs.mxPathname = 512;
  vfs.zName = registered_->name.c_str();
  vfs.pAppData = &disk;
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  vfs.xAccess = vfs_access;
  vfs.xFullPathname = vfs_full_pathname;
  vfs.xRandomness = vfs_randomness;
  vfs.xSleep = [](sqlite3_vfs*, int microseconds) { return microseconds; };
  vfs.xCurrentTime = vfs_current_time;
  vfs.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
  sqlite3_vfs_register(&vfs, 0);
}

PowerCutVfs::~PowerCutVfs() {
  sqlite3_vfs_unregister(&registered_->vfs);
}

const std::string& PowerCutVfs::name() const {
  return registered_->name;
}

namespace {

storage::Files::Result<> result_of(Error error) {
  if (error == Error::none) return {};
  return boost::system::error_code(error == Error::full ? ENOSPC : EIO,
                                   boost::system::system_category());
}

const boost::system::error_code no_entry(ENOENT, boost::system::system_category());

}  // namespace

storage::Files::Result<std::optional<storage::FileFacts>> DiskFiles::look(const Path& path) {
  if (disk_.off()) return result_of(Error::off).error();
  const auto file = disk_.find(path.string());
  if (!file) return std::optional<storage::FileFacts>();
  storage::FileFacts facts;
  facts.kind =
      file->directory ? storage::FileFacts::Kind::directory : storage::FileFacts::Kind::regular;
  facts.device = 1;
  facts.inode = file->inode;
  facts.links = 1;
  facts.owner = user();
  facts.mode = file->directory ? 0700 : 0600;
  facts.size = file->cached.size();
  return std::optional<storage::FileFacts>(facts);
}

storage::Files::Result<storage::FileSystemFacts> DiskFiles::file_system(const Path&) {
  return storage::FileSystemFacts{0xEF53, disk_.free_bytes};
}

storage::Files::Result<> DiskFiles::make_directory(const Path& path) {
  if (!disk_.find(path.parent_path().string())) return no_entry;
  SimulatedDisk::FilePtr made;
  return result_of(disk_.create(path.string(), true, made));
}

storage::Files::Result<> DiskFiles::sync_directory(const Path& path) {
  if (disk_.forgets_sync_directory) return {};
  return result_of(disk_.sync_directory(path.string()));
}

storage::Files::Result<> DiskFiles::create(const Path& path, std::string_view bytes) {
  SimulatedDisk::FilePtr file;
  if (const Error error = disk_.create(path.string(), false, file); error != Error::none)
    return result_of(error);
  constexpr std::size_t chunk = 65536;
  for (std::size_t at = 0; at < bytes.size(); at += chunk)
    if (const Error error = disk_.write(*file, at, bytes.substr(at, chunk)); error != Error::none)
      return result_of(error);
  return {};
}

storage::Files::Result<> DiskFiles::overwrite(const Path& path, std::uint64_t offset,
                                              std::string_view bytes) {
  const auto file = disk_.find(path.string());
  return file ? result_of(disk_.write(*file, offset, bytes)) : Result<>(no_entry);
}

storage::Files::Result<> DiskFiles::sync_file(const Path& path) {
  if (disk_.forgets_sync_file) return {};
  const auto file = disk_.find(path.string());
  return file ? result_of(disk_.sync(*file)) : Result<>(no_entry);
}

storage::Files::Result<> DiskFiles::rename(const Path& from, const Path& to) {
  return result_of(disk_.rename(from.string(), to.string()));
}

storage::Files::Result<> DiskFiles::remove(const Path& path) {
  return result_of(disk_.remove(path.string()));
}

storage::Files::Result<std::string> DiskFiles::read(const Path& path, std::size_t most) {
  const auto file = disk_.find(path.string());
  if (!file) return no_entry;
  std::string bytes;
  const Error error = disk_.read(*file, 0, most, bytes);
  if (error != Error::none) return result_of(error).error();
  return bytes;
}

storage::Files::Result<storage::LockAttempt> DiskFiles::lock(const Path& path, storage::LockKind) {
  struct DiskLock final : storage::Lock {
    DiskLock(SimulatedDisk& on, std::string at) : disk(on), name(std::move(at)) {}
    ~DiskLock() override { disk.unlock(name); }
    SimulatedDisk& disk;
    std::string name;
  };
  SimulatedDisk::FilePtr file = disk_.find(path.string());
  if (!file) {
    if (const Error error = disk_.create(path.string(), false, file); error != Error::none)
      return result_of(error).error();
  }
  if (!disk_.lock(path.string())) return storage::LockAttempt{nullptr, 1};
  return storage::LockAttempt{std::make_unique<DiskLock>(disk_, path.string()), std::nullopt};
}

}  // namespace muster::test
