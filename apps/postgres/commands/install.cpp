#include "apps/bundles/bundles.hpp"
#include "apps/certificates/files.hpp"
#include "apps/postgres/commands/commands.hpp"

#include <unistd.h>

#include <cerrno>

/// A bundle becomes a node's directory.

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

Failure cannot(const fs::path& directory, const std::string& why) {
  return {ExitCode::io_error, "cannot put the bundle into " + directory.string() + ": " + why};
}

/// All of it, and the owner's. Only files and directories are in a bundle.
Expected<> copy(const fs::path& from, const fs::path& to, const Owner& owner) {
  std::error_code error;
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::skip_symlinks, error);
  if (error) return cannot(to, error.message());
  if (!owner) return {};
  std::vector<fs::path> all{to};
  for (const auto& entry : fs::recursive_directory_iterator(to)) all.push_back(entry.path());
  for (const fs::path& each : all)
    if (::lchown(each.c_str(), owner->uid, owner->gid) != 0)
      return cannot(to, std::generic_category().message(errno));
  return {};
}

}  // namespace

Expected<fs::path> install(const fs::path& bundle, const fs::path& named, const Owner& owner) {
  const fs::path directory = (named / "").parent_path();  // without a slash at its end
  const fs::path config = directory / apps::bundled_config;
  std::error_code error;
  if (!fs::is_regular_file(bundle / apps::bundled_config, error))
    return Failure{ExitCode::bad_configuration,
                   bundle.string() +
                       " is no bundle, as it has no muster.toml: name a node's "
                       "directory of those that muster postgres init has made, "
                       "such as " +
                       (bundle / "n1").string()};
  if (!fs::exists(directory, error) || fs::is_empty(directory, error)) {
    const auto copied = apps::make_at_once(
        directory, [&](const fs::path& fresh) { return copy(bundle, fresh, owner); });
    if (!copied) return copied.error();
    return config;
  }
  const auto theirs = certificates::read_file(bundle / apps::bundled_config);
  if (!theirs) return theirs.error();
  const auto ours = certificates::read_file(config);
  if (!ours || *ours != *theirs)
    return Failure{ExitCode::bad_configuration,
                   directory.string() +
                       " is there already, and not of this bundle: name a new "
                       "directory with --data"};
  return config;  // of an attempt before
}

}  // namespace muster::postgres
