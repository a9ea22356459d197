#include "apps/postgres/commands/as_user.hpp"

#include "apps/base/roots_path.hpp"
#include "apps/base/text.hpp"
#include "apps/postgres/commands/bundle.hpp"

#include <fcntl.h>
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;
using apps::Descriptor;

Failure cannot_go_on(std::string why) {
  return {ExitCode::bad_configuration, std::move(why)};
}

bool may_enter(const apps::User& user, const struct stat& directory) {
  if (directory.st_uid == user.id) return (directory.st_mode & S_IXUSR) != 0;
  int count = 0;
  ::getgrouplist(user.name.c_str(), user.group, nullptr, &count);
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  ::getgrouplist(user.name.c_str(), user.group, groups.data(), &count);
  const bool by_group = std::find(groups.begin(), groups.end(), directory.st_gid) != groups.end();
  return (directory.st_mode & (by_group ? S_IXGRP : S_IXOTH)) != 0;
}

Failure place_failure(const fs::path& directory, int error) {
  return cannot_go_on(directory.string() +
                      ": the directory cannot be made: " + std::strerror(error));
}

Expected<> give(const apps::User& user, const Descriptor& directory, const fs::path& path) {
  const Descriptor opened(
      ::openat(directory.fd(), ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened || ::fchmod(opened.fd(), S_IRWXU) != 0 ||
      ::fchown(opened.fd(), user.id, user.group) != 0)
    return place_failure(path, errno);
  return {};
}

/// Gives the user a directory that belongs to root, if it is empty.
Expected<> give_if_empty(const apps::User& user, const apps::RootsPath& place) {
  const auto& [path, found] = place.passed.back();
  if (!S_ISDIR(found.st_mode)) return {};  // the user's attempt to make it reports the error
  if ((found.st_mode & (S_ISVTX | S_IWGRP | S_IWOTH)) != 0)
    return cannot_go_on(path.string() +
                        " can be changed by other users: name a new directory in it");
  const auto names = names_in(place.at, path);
  if (!names) return names.error();
  if (names->empty()) return give(user, place.at, path);
  return cannot_go_on(path.string() + " belongs to root, and not to " + user.name +
                      ": name a new directory, or give this one to the user (chown -hR " +
                      user.name + ": " + apps::shell_word(path.string()) + ")");
}

}  // namespace

Expected<> make_place_as_root(const apps::User& user, const fs::path& directory) {
  auto place = apps::follow_as_root(directory);
  if (!place) return place.error();
  for (const auto& [path, found] : place->passed)
    if (S_ISDIR(found.st_mode) && !(place->is_whole() && path == place->passed.back().path) &&
        !may_enter(user, found))
      return cannot_go_on(directory.string() + ": PostgreSQL's user may not enter " +
                          path.string() +
                          ": choose a place that it can reach, such as below /var/lib");
  if (place->of_another) return {};
  if (place->is_whole()) return give_if_empty(user, *place);
  fs::path path = place->passed.back().path;
  for (const std::string& name : place->rest) {
    path /= name;
    if (::mkdirat(place->at.fd(), name.c_str(), S_IRWXU) != 0) return place_failure(path, errno);
    Descriptor made(
        ::openat(place->at.fd(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found {};
    if (!made || ::fstat(made.fd(), &found) != 0) return place_failure(path, errno);
    if (found.st_uid != 0)
      return place_failure(path, EPERM);  // another directory has taken its place
    if (&name != &place->rest.back() &&
        ::fchmod(made.fd(), S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH) != 0)
      return place_failure(path, errno);
    place->at = std::move(made);
  }
  return give(user, place->at, path);
}

// If root made a directory in a place where another user can put a link, that link could make root
// write anywhere.
std::string what_makes(const fs::path& directory) {
  const std::string user = apps::name_of(::geteuid());
  const auto place = apps::follow_as_root(directory);
  if (place && !place->of_another && !place->is_whole())
    return "as root, once: install -d -o " + user + " -g \"$(id -gn " + user + ")\" -m 700 " +
           apps::shell_word(directory.string());
  return "choose a place that belongs to " + user + ", or one that only root can change";
}

namespace {

/// Makes the directories for the node and its database. Root makes them only if the configuration
/// belongs to root.
Expected<> make_places_of(const std::string& file, const apps::User& user) {
  const auto whose = apps::owner_of_word(file);
  if (!whose || *whose != 0) return {};  // the file is read as the user later, which reports errors
  const auto config = apps::load_config(file);
  if (!config) return config.error();
  // If one of the two directories is inside the other, root makes only the outer one, in which the
  // user can make the inner one.
  std::vector<fs::path> directories{config->data, config->application.database};
  std::sort(directories.begin(), directories.end());
  for (const fs::path& directory : directories)
    if (!directory.empty())
      if (auto made = make_place_as_root(user, directory); !made) return made;
  return {};
}

Expected<> prepare_as_root(Flags& flags, Makes makes, const apps::User& user) {
  if (!flags.bundle.empty() && !flags.directory.empty()) {
    auto files = read_bundle_as_root(flags.bundle);
    if (!files) return files.error();
    flags.bundle_files = std::move(*files);
    return make_place_as_root(user, flags.directory);
  }
  if (flags.node.config.empty() || makes == Makes::nothing) return {};
  return make_places_of(flags.node.config, user);
}

/// Changes to another working directory if the user cannot enter the present one. There, programs
/// would fail to open files, and PostgreSQL's programs could not return to the directory.
void leave_closed_directory(Flags& flags, const fs::path& before) {
  if (::access(before.c_str(), X_OK) == 0 || ::chdir("/") != 0) return;
  for (fs::path* path : {&flags.bundle, &flags.directory, &flags.adopt})
    if (!path->empty()) *path = before / *path;
  if (!flags.node.config.empty()) flags.node.config = before / flags.node.config;
}

}  // namespace

Expected<> is_not_root() {
  if (::geteuid() != 0) return {};
  return cannot_go_on(
      "PostgreSQL does not run as root: run this command as the user that owns the database, or "
      "name that user, such as --user postgres");
}

Expected<> go_on_as_user(Flags& flags, Makes makes) {
  if (flags.user.empty()) return {};
  const auto user = apps::user_named(flags.user);
  if (!user) return user.error();
  if (user->id == 0)
    return cannot_go_on("--user " + user->name +
                        ": PostgreSQL does not run as root: name the user that owns the database");
  std::error_code error;
  const fs::path before = fs::current_path(error);
  if (::geteuid() == 0)
    if (auto prepared = prepare_as_root(flags, makes, *user); !prepared) return prepared;
  if (auto became = apps::become(*user); !became) return became;
  leave_closed_directory(flags, before);
  return {};
}

Expected<> go_on_as_owner(const fs::path& config) {
  if (::geteuid() != 0) return {};
  auto whose = apps::owner_of_word(config);
  if (!whose) return whose.error();
  if (*whose == 0) {  // the node's directory still belongs to its user
    const auto read = apps::load_config(config);
    struct stat data {};
    if (read && ::lstat(read->data.c_str(), &data) == 0) whose = data.st_uid;
  }
  if (*whose == 0) return {};
  const auto user = apps::user_of(*whose);
  if (!user) return user.error();
  return apps::become(*user);
}

}  // namespace muster::postgres
