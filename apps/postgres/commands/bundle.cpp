#include "apps/postgres/commands/bundle.hpp"

#include "apps/base/roots_path.hpp"
#include "apps/base/user.hpp"
#include "apps/bundles/bundles.hpp"
#include "apps/postgres/commands/as_user.hpp"
#include "apps/postgres/server/durable.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;
using apps::Descriptor;

constexpr std::size_t most_bytes = 1 << 20;         // limit for one file
constexpr std::size_t most_bytes_in_all = 8 << 20;  // limit for all files together
constexpr std::size_t most_names = 256;             // limit for one directory
constexpr int deepest_directory = 4;                // limit for nested directories

Failure bad_bundle(std::string why) {
  return {ExitCode::bad_configuration, std::move(why)};
}

Failure cannot_read(const fs::path& path, int error) {
  return bad_bundle("cannot read " + path.string() + ": " + std::strerror(error));
}

Expected<std::string> text_of(const Descriptor& file, const fs::path& path) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t size = ::read(file.fd(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return cannot_read(path, errno);
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > most_bytes)
      return bad_bundle(
          path.string() +
          " is too large for a file of a bundle: name a bundle that muster postgres init has made");
  }
}

/// Reads a tree by descriptors. The reader follows no links, and does not block on pipes.
class BundleReader {
 public:
  BundleReader(fs::path bundle, std::optional<uid_t> owner)
      : bundle_(std::move(bundle)), owner_(owner) {}

  Expected<> read(const Descriptor& directory, const fs::path& name = {}, int depth = 0) {
    const auto names = names_in(directory, bundle_ / name);
    if (!names) return names.error();
    if (names->size() > most_names)
      return bad_bundle(
          (bundle_ / name).string() +
          " has too many files for a bundle: name a bundle that muster postgres init has made");
    for (const std::string& each : *names)
      if (auto taken = take(directory, name / each, depth); !taken) return taken;
    return {};
  }
  BundleFiles files;

 private:
  Expected<> take(const Descriptor& directory, const fs::path& name, int depth) {
    const fs::path path = bundle_ / name;
    const Descriptor opened(::openat(directory.fd(), name.filename().c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!opened && errno == ELOOP) return {};
    struct stat found {};
    if (!opened || ::fstat(opened.fd(), &found) != 0) return cannot_read(path, errno);
    if (owner_ && found.st_uid != *owner_)
      return bad_bundle(
          path.string() +
          " belongs to another user than its bundle: give the whole bundle to one user");
    if (S_ISDIR(found.st_mode) && depth < deepest_directory) return read(opened, name, depth + 1);
    if (!S_ISREG(found.st_mode)) return {};
    auto text = text_of(opened, path);
    if (!text) return text.error();
    bytes_ += text->size();
    if (bytes_ > most_bytes_in_all)
      return bad_bundle(
          bundle_.string() +
          " is too large for a bundle: name a bundle that muster postgres init has made");
    files[name] = std::move(*text);
    return {};
  }

  const fs::path bundle_;
  const std::optional<uid_t> owner_;
  std::size_t bytes_ = 0;
};

Failure no_bundle(const fs::path& bundle) {
  return bad_bundle(bundle.string() +
                    " is not a bundle, because it has no muster.toml: name the directory of one "
                    "node that muster postgres init has made, such as " +
                    (bundle / "n1").string());
}

Expected<BundleFiles> read_tree(const Descriptor& directory, const fs::path& bundle,
                                std::optional<uid_t> owner) {
  struct stat config {};
  if (::fstatat(directory.fd(), apps::bundled_config, &config, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(config.st_mode))
    return no_bundle(bundle);
  BundleReader reading(bundle, owner);
  if (const auto read = reading.read(directory); !read) return read.error();
  return std::move(reading.files);
}

}  // namespace

Expected<std::vector<std::string>> names_in(const Descriptor& directory, const fs::path& path) {
  const int own = ::openat(directory.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listed(own < 0 ? nullptr : ::fdopendir(own),
                                                   ::closedir);
  if (!listed) return cannot_read(path, errno);
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(listed.get()))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  return names;
}

Expected<BundleFiles> read_bundle(const fs::path& bundle) {
  const Descriptor directory(::open(bundle.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) return read_tree(directory, bundle, std::nullopt);
  if (errno == EACCES)
    return bad_bundle(apps::name_of(::geteuid()) + " may not read the bundle " + bundle.string() +
                      ": copy it to a place where only root can write, and name that copy");
  return no_bundle(bundle);
}

Expected<std::optional<BundleFiles>> read_bundle_as_root(const fs::path& bundle) {
  auto path = apps::follow_as_root(bundle);
  const uid_t owner = path && path->of_another ? path->of_another->found.st_uid : 0;
  if (owner != 0) path = apps::follow_as_root(bundle, owner);
  if (!path) return path.error();
  if (!path->is_whole() || path->passed.back().found.st_uid != owner) {
    if (path->of_another || owner != 0) return std::optional<BundleFiles>();
    return no_bundle(bundle);
  }
  auto files = read_tree(path->at, bundle, owner);
  if (!files) return files.error();
  return std::optional(std::move(*files));
}

namespace {

Failure no_place(const fs::path& directory, const std::error_code& error) {
  return bad_bundle(directory.string() + ": the directory cannot be made: " + error.message() +
                    "; " + what_makes(directory));
}

/// Writes muster.toml last, so the bundle is complete when that file exists.
Expected<> write_tree(const BundleFiles& files, const fs::path& directory) {
  const auto write = [&](const fs::path& name, const std::string& text) -> Expected<> {
    std::error_code error;
    const fs::path within = (directory / name).parent_path();
    if (within != directory) fs::create_directories(within, error);
    if (!error && within != directory) fs::permissions(within, fs::perms::owner_all, error);
    if (error) return no_place(within, error);
    return write_durably(directory / name, text);
  };
  for (const auto& [name, text] : files)
    if (name != apps::bundled_config)
      if (auto written = write(name, text); !written) return written;
  return write(apps::bundled_config, files.at(apps::bundled_config));
}

Expected<> fill(const BundleFiles& files, const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error) fs::permissions(directory, fs::perms::owner_all, error);
  if (error) return no_place(directory, error);
  auto written = write_tree(files, directory);
  if (!written)
    for (const auto& entry : fs::directory_iterator(directory, error))
      fs::remove_all(entry.path(), error);
  return written;
}

}  // namespace

Expected<fs::path> install(const BundleFiles& files, const fs::path& named) {
  const fs::path directory = (named / "").parent_path();  // without a slash at the end
  const fs::path config = directory / apps::bundled_config;
  std::error_code error;
  if (!fs::exists(directory, error) || fs::is_empty(directory, error)) {
    if (const auto filled = fill(files, directory); !filled) return filled.error();
    return config;
  }
  const auto ours = read_text(config);
  if (!ours || !*ours || **ours != files.at(apps::bundled_config))
    return bad_bundle(
        directory.string() +
        " already exists and does not come from this bundle: name a new directory with --data");
  return config;  // from an earlier attempt
}

}  // namespace muster::postgres
