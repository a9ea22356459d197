#pragma once

#include "apps/base/process.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Paths that only root can change. Root can trust a file at such a path, and a file that root
/// creates there stays where root put it.

namespace muster::apps {

/// How much of a path only root can change. In that part each directory, each link and the file
/// belong to root, and no other user can write to them. A directory with the sticky bit, such as
/// /tmp, is accepted if the next part belongs to root and is no link. Another user could move a
/// link of root's in such a directory.
struct RootsPath {
  struct Part {
    std::filesystem::path path;  ///< with links resolved
    struct stat found {};
  };
  Descriptor at;             ///< the last part that only root can change, opened with O_PATH
  std::vector<Part> passed;  ///< all parts that only root can change; the last is `at`
  std::vector<std::string>
      rest;  ///< the names after `at`: they do not exist, or others can change them
  std::optional<Part>
      of_another;  ///< the part that another user can change; none: `rest` does not exist

  [[nodiscard]] bool is_whole() const { return rest.empty(); }
};

/// Follows a path from / by descriptors, so a part that was checked cannot be exchanged afterwards.
/// Parts that belong to the user `also` are accepted like root's.
Expected<RootsPath> follow_as_root(const std::filesystem::path& path, uid_t also = 0);

/// The first user besides root that can change that file; 0 if only root can. Fails if there is no
/// such file, or if everybody can change a part of the path, which the failure then names.
Expected<uid_t> owner_of_word(const std::filesystem::path& file);

/// Fails if another user can change the file, because root must not act on such a file. The failure
/// names the user that may run the command.
Expected<> may_obey(const std::filesystem::path& file);

}  // namespace muster::apps
