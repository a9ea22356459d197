#include "apps/base/roots_path.hpp"

#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/base/user.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

namespace muster::apps {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as the kernel's

Failure cannot_follow(const fs::path& path, int error) {
  const bool is_short = error == EMFILE || error == ENFILE;
  const std::string why = is_short ? no_descriptors : std::strerror(error);
  return {is_short ? ExitCode::temporary : ExitCode::io_error,
          "cannot follow " + path.string() + ": " + why};
}

bool is_sticky(const struct stat& found) {
  return S_ISDIR(found.st_mode) && (found.st_mode & S_ISVTX) != 0;
}

bool can_others_write(const struct stat& found) {
  return !S_ISLNK(found.st_mode) && !is_sticky(found) && (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

std::vector<std::string> names_of(const fs::path& path) {
  std::vector<std::string> names;
  for (const fs::path& name : path.relative_path())
    if (!name.empty() && name != ".") names.push_back(name.string());
  return names;
}

class Walk {
 public:
  Walk(const fs::path& path, uid_t also) : also_(also) {
    reached_.rest = names_of(fs::absolute(path));
  }

  Expected<RootsPath> follow() {
    if (const auto begun = begin(); !begun) return begun.error();
    while (!reached_.rest.empty() && !reached_.of_another && !ends_) {
      if (const auto gone = step(); !gone) return gone.error();
    }
    return std::move(reached_);
  }

 private:
  Expected<> begin() {
    RootsPath::Part root{"/", {}};
    reached_.at = Descriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!reached_.at || ::fstat(reached_.at.fd(), &root.found) != 0)
      return cannot_follow("/", errno);
    reached_.passed = {root};
    return {};
  }

  Expected<> step() {
    RootsPath::Part next;
    const std::string name = reached_.rest.front();
    const fs::path& here = reached_.passed.back().path;
    next.path = name == ".." ? here.parent_path() : here / name;
    Descriptor opened(::openat(reached_.at.fd(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!opened) {
      ends_ = errno == ENOENT || errno == ENOTDIR;
      return ends_ ? Expected<>() : Expected<>(cannot_follow(next.path, errno));
    }
    if (::fstat(opened.fd(), &next.found) != 0) return cannot_follow(next.path, errno);
    const uid_t owner = next.found.st_uid;
    if ((owner != 0 && owner != also_) || can_others_write(next.found) ||
        (S_ISLNK(next.found.st_mode) && is_sticky(reached_.passed.back().found))) {
      reached_.of_another = next;
      return {};
    }
    reached_.rest.erase(reached_.rest.begin());
    if (S_ISLNK(next.found.st_mode)) return follow_link(opened, next.path);
    reached_.at = std::move(opened);
    reached_.passed.push_back(next);
    return {};
  }

  Expected<> follow_link(const Descriptor& link, const fs::path& path) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlinkat(link.fd(), "", target.data(), target.size());
    if (size < 0) return cannot_follow(path, errno);
    if (++links_ > most_links) return cannot_follow(path, ELOOP);
    const fs::path to(std::string(target.data(), static_cast<std::size_t>(size)));
    const auto names = names_of(to);
    reached_.rest.insert(reached_.rest.begin(), names.begin(), names.end());
    return to.is_absolute() ? begin_again() : Expected<>();
  }

  Expected<> begin_again() {
    const auto before = std::move(reached_.passed);
    auto begun = begin();
    reached_.passed.insert(reached_.passed.begin(), before.begin(), before.end());
    return begun;
  }

  const uid_t also_;
  RootsPath reached_;
  int links_ = 0;
  bool ends_ = false;  ///< the next part does not exist
};

}  // namespace

Expected<RootsPath> follow_as_root(const fs::path& path, uid_t also) {
  return Walk(path, also).follow();
}

Expected<uid_t> owner_of_word(const fs::path& file) {
  const auto reached = follow_as_root(file);
  if (!reached) return reached.error();
  // If everybody can write to its directory, another user could create the file at any moment.
  if (!reached->of_another && !reached->is_whole())
    return Failure{ExitCode::bad_configuration, file.string() +
                                                    ": cannot be read: " + std::strerror(ENOENT) +
                                                    "; name an existing configuration"};
  if (!reached->of_another) return uid_t{0};
  const auto& [path, found] = *reached->of_another;
  if (found.st_uid != 0) return found.st_uid;
  return Failure{ExitCode::bad_configuration,
                 file.string() + ": users other than root can write to " + path.string() +
                     ", and root uses no configuration that they can change: chmod go-w " +
                     shell_word(path.string())};
}

Expected<> may_obey(const fs::path& file) {
  const auto whose = owner_of_word(file);
  if (!whose) return whose.error();
  if (*whose == 0) return {};
  const auto user = user_of(*whose);
  if (!user) return user.error();
  return Failure{ExitCode::bad_configuration,
                 file.string() + ": " + user->name +
                     " can change it, and root uses no configuration that another user can change: "
                     "run this as that user, runuser -u " +
                     user->name + " -- ..."};
}

}  // namespace muster::apps
