#include "storage/simulated_disk.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace muster::test {

namespace {

constexpr std::size_t sector = 512;

void put(std::string& content, std::uint64_t offset, std::string_view bytes) {
  const auto at = static_cast<std::size_t>(offset);
  if (content.size() < at + bytes.size()) content.resize(at + bytes.size(), '\0');
  content.replace(at, bytes.size(), bytes);
}

void perform(std::string& content, const SimulatedDisk::Change& change) {
  if (change.size) {
    content.resize(static_cast<std::size_t>(*change.size), '\0');
  } else {
    put(content, change.offset, change.bytes);
  }
}

std::string parent(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace

SimulatedDisk::SimulatedDisk(std::uint64_t seed) : random_(seed) {
  const auto root = std::make_shared<File>();
  root->directory = true;
  names_["/disk"] = durable_names_["/disk"] = root;
}

SimulatedDisk::SimulatedDisk(const SimulatedDisk& other)
    : forgets_sync_directory(other.forgets_sync_directory),
      forgets_sync_file(other.forgets_sync_file),
      syncs_only_own_name(other.syncs_only_own_name),
      free_bytes(other.free_bytes),
      random_(other.random_),
      next_inode_(other.next_inode_),
      changes_(other.changes_),
      off_(other.off_) {
  std::map<const File*, FilePtr> copies;
  const auto copy = [&](const FilePtr& file) {
    if (!file) return FilePtr();
    FilePtr& made = copies[file.get()];
    if (!made) made = std::make_shared<File>(*file);
    return made;
  };
  for (const auto& [name, file] : other.names_) names_[name] = copy(file);
  for (const auto& [name, file] : other.durable_names_) durable_names_[name] = copy(file);
  for (const NameChange& change : other.unsynced_names_) {
    NameChange& copied = unsynced_names_.emplace_back();
    for (const auto& [name, file] : change) copied.emplace_back(name, copy(file));
  }
}

SimulatedDisk::FilePtr SimulatedDisk::find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

SimulatedDisk::Error SimulatedDisk::begin(Io kind) {
  if (off_) return Error::off;
  ++counts_[static_cast<std::size_t>(kind)];
  if (!failing_ || !failing_->which(kind)) return Error::none;
  ++matching_;
  if (matching_ != failing_->number && !(failing_->forever && matching_ > failing_->number))
    return Error::none;
  failed_ = true;
  return failing_->error;
}

SimulatedDisk::Error SimulatedDisk::begin_change(Io kind) {
  const Error error = begin(kind);
  if (error == Error::none && ++changes_ == cut_in_) off_ = true;
  return error;
}

SimulatedDisk::Error SimulatedDisk::note_open() {
  return begin(Io::open);
}

SimulatedDisk::Error SimulatedDisk::read(const File& file, std::uint64_t offset, std::size_t size,
                                         std::string& bytes) {
  if (const Error error = begin(Io::read); error != Error::none) return error;
  bytes = offset < file.cached.size() ? file.cached.substr(static_cast<std::size_t>(offset), size)
                                      : std::string();
  return Error::none;
}

SimulatedDisk::Error SimulatedDisk::write(File& file, std::uint64_t offset,
                                          std::string_view bytes) {
  const Error error = begin_change(Io::write);
  if (error == Error::off) return error;
  if (error != Error::none) {
    if (!failing_->half) return error;
    bytes = bytes.substr(0, bytes.size() / 2);
  }
  put(file.cached, offset, bytes);
  file.unsynced.push_back({offset, std::string(bytes), std::nullopt});
  return off_ ? Error::off : error;
}

SimulatedDisk::Error SimulatedDisk::truncate(File& file, std::uint64_t size) {
  if (const Error error = begin_change(Io::truncate); error != Error::none) return error;
  file.unsynced.push_back({0, {}, size});
  perform(file.cached, file.unsynced.back());
  return off_ ? Error::off : Error::none;
}

SimulatedDisk::Error SimulatedDisk::sync(File& file) {
  const Error error = begin_change(Io::sync);
  if (error != Error::none) {
    if (error != Error::off && failing_->drops_cache) file.unsynced.clear();
    return error;
  }
  if (off_) return Error::off;
  for (const Change& change : file.unsynced) perform(file.durable, change);
  file.unsynced.clear();
  return Error::none;
}

SimulatedDisk::Error SimulatedDisk::create(const std::string& path, bool directory,
                                           FilePtr& created) {
  if (const Error error = begin_change(Io::create); error != Error::none) return error;
  created = std::make_shared<File>();
  created->inode = ++next_inode_;
  created->directory = directory;
  names_[path] = created;
  unsynced_names_.push_back({{path, created}});
  return off_ ? Error::off : Error::none;
}

SimulatedDisk::Error SimulatedDisk::remove(const std::string& path) {
  if (const Error error = begin_change(Io::remove); error != Error::none) return error;
  names_.erase(path);
  unsynced_names_.push_back({{path, nullptr}});
  return off_ ? Error::off : Error::none;
}

SimulatedDisk::Error SimulatedDisk::rename(const std::string& from, const std::string& to) {
  if (const Error error = begin_change(Io::rename); error != Error::none) return error;
  const FilePtr file = find(from);
  names_.erase(from);
  names_[to] = file;
  unsynced_names_.push_back({{from, nullptr}, {to, file}});
  return off_ ? Error::off : Error::none;
}

SimulatedDisk::Error SimulatedDisk::sync_directory(const std::string& path) {
  if (const Error error = begin_change(Io::sync_directory); error != Error::none) return error;
  if (off_) return Error::off;
  std::erase_if(unsynced_names_, [&](const NameChange& change) {
    if (parent(change.front().first) != path) return false;
    make_durable(change);
    return true;
  });
  return Error::none;
}

SimulatedDisk::Error SimulatedDisk::sync_name(const std::string& path) {
  if (const Error error = begin_change(Io::sync_directory); error != Error::none) return error;
  if (off_) return Error::off;
  if (const FilePtr file = find(path)) durable_names_[path] = file;
  return Error::none;
}

bool SimulatedDisk::lock(const std::string& path) {
  return std::exchange(locked_[path], true) == false;
}

void SimulatedDisk::unlock(const std::string& path) {
  locked_[path] = false;
}

void SimulatedDisk::restart_process() {
  locked_.clear();
  failing_.reset();
  failed_ = false;
  cut_in_ = 0;
  changes_ = 0;
}

void SimulatedDisk::settle() {
  for (const auto& [name, file] : names_) {
    file->durable = file->cached;
    file->unsynced.clear();
  }
  durable_names_ = names_;
  unsynced_names_.clear();
}

bool SimulatedDisk::chance(double probability) {
  return std::bernoulli_distribution(probability)(random_);
}

std::size_t SimulatedDisk::up_to(std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(0, most)(random_);
}

void SimulatedDisk::apply_torn(File& file, const Change& change, std::size_t bytes) {
  if (change.size) return;
  put(file.durable, change.offset, std::string_view(change.bytes).substr(0, bytes));
}

void SimulatedDisk::apply_sectors(File& file, const Change& change) {
  const std::string_view bytes = change.bytes;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto position = static_cast<std::size_t>(change.offset) + at;
    const std::size_t size = std::min(bytes.size() - at, sector - position % sector);
    if (chance(0.5)) put(file.durable, position, bytes.substr(at, size));
    at += size;
  }
}

void SimulatedDisk::meet_fate(File& file, Fate fate) {
  std::size_t whole = fate == Fate::kept ? file.unsynced.size() : 0;
  if (fate == Fate::torn) whole = up_to(file.unsynced.size());
  for (std::size_t i = 0; i < file.unsynced.size(); ++i) {
    const Change& change = file.unsynced[i];
    if (i < whole) {
      perform(file.durable, change);
    } else if (fate == Fate::torn && i == whole) {
      apply_torn(file, change, up_to(change.bytes.size()));
    } else if (fate == Fate::reordered) {
      if (chance(0.4)) {
        perform(file.durable, change);
      } else if (!change.size && chance(0.5)) {
        apply_sectors(file, change);
      }
    }
  }
  file.unsynced.clear();
  file.cached = file.durable;
}

void SimulatedDisk::make_durable(const NameChange& change) {
  for (const auto& [name, file] : change) {
    if (file)
      durable_names_[name] = file;
    else
      durable_names_.erase(name);
  }
}

void SimulatedDisk::meet_fate_of_names(Fate fate) {
  std::size_t whole = fate == Fate::kept ? unsynced_names_.size() : 0;
  if (fate == Fate::torn) whole = up_to(unsynced_names_.size());
  for (std::size_t i = 0; i < unsynced_names_.size(); ++i) {
    if (i < whole || (fate == Fate::reordered && chance(0.5))) make_durable(unsynced_names_[i]);
  }
  unsynced_names_.clear();
  // If a directory is lost, everything in it is lost too.
  std::erase_if(durable_names_, [&](const auto& entry) {
    return entry.first != "/disk" && !durable_names_.contains(parent(entry.first));
  });
  names_ = durable_names_;
}

void SimulatedDisk::power_on(Fate content, Fate names) {
  meet_fate_of_names(names);
  std::vector<File*> seen;
  for (const auto& [name, file] : names_) {
    if (std::find(seen.begin(), seen.end(), file.get()) != seen.end()) continue;
    seen.push_back(file.get());
    meet_fate(*file, content);
  }
  off_ = false;
  restart_process();
}

}  // namespace muster::test
