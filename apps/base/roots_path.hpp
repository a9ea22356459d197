#pragma once

#include "apps/base/process.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Paths that only root can change: what root reads by such a path is root's word, and what it
/// makes there stands where root meant it to.

namespace muster::apps {

/// How far a path is root's alone: every directory on it, every link, and what it names belong to
/// root, and nobody else can write to them. A directory with the sticky bit, such as /tmp, is
/// passed if what is taken from it belongs to root and is no link: another user can move a link of
/// root's there.
struct RootsPath {
  struct Part {
    std::filesystem::path path;  ///< without links
    struct stat found {};
  };
  Descriptor at;                   ///< the last part that is root's alone, opened by O_PATH
  std::vector<Part> passed;        ///< all that are; the last is `at`
  std::vector<std::string> rest;   ///< the names behind it: of what is not there, or another's
  std::optional<Part> of_another;  ///< what another user can change; none: `rest` is not there

  [[nodiscard]] bool is_whole() const { return rest.empty(); }
};

/// Follows a path from / on, by descriptors: what was looked at cannot be changed afterwards. Parts
/// that belong to the user `also` are passed like root's.
Expected<RootsPath> follow_as_root(const std::filesystem::path& path, uid_t also = 0);

/// The first user beside root who can change that file; 0 if only root can. The error says that
/// there is no such file, or names what everybody can change.
Expected<uid_t> whose_word(const std::filesystem::path& file);

/// Root obeys no file that another user can change. The error says so, and who may run it.
Expected<> may_obey(const std::filesystem::path& file);

}  // namespace muster::apps
