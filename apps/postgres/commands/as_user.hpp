#pragma once

#include "apps/base/user.hpp"
#include "apps/postgres/commands/commands.hpp"

#include <filesystem>
#include <string>

/// What root does for the user of a database before it becomes that user.

namespace muster::postgres {

/// Directories that a word of `muster postgres` makes.
enum class Makes { nothing, directories };

/// This process becomes the user that `--user` names, and goes on as that user's. Before that root
/// reads the bundle, and makes directories where only root can. Does nothing without `--user`.
Expected<> go_on_as_user(Flags& flags, Makes makes);

/// Root becomes the user who can change that configuration, if there is one.
Expected<> go_on_as_owner(const std::filesystem::path& config);

/// Makes a directory that belongs to that user, if its place is one that only root can change. If
/// another user can change it, that user is to make the rest. The error says what is in the way.
Expected<> make_place_as_root(const apps::User& user, const std::filesystem::path& directory);

/// What to do where this process's user cannot make a directory.
std::string what_makes(const std::filesystem::path& directory);

/// The error says that PostgreSQL does not run as root.
Expected<> is_not_root();

}  // namespace muster::postgres
