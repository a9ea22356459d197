#pragma once

#include "apps/base/user.hpp"
#include "apps/postgres/commands/commands.hpp"

#include <filesystem>
#include <string>

/// The steps that need root before the process switches to the user of the database.

namespace muster::postgres {

/// The directories that a command of `muster postgres` makes.
enum class Makes { nothing, directories };

/// Switches this process to the user that `--user` names. Before the switch, root reads the bundle,
/// and makes directories that only root can make. Does nothing without `--user`.
Expected<> go_on_as_user(Flags& flags, Makes makes);

/// If this process is root's and one other user can change the configuration, switches to that
/// user.
Expected<> go_on_as_owner(const std::filesystem::path& config);

/// Makes a directory that belongs to that user, if only root can change the directory above it. If
/// another user can change the directory above, that user has to make `directory`. The error says
/// why the directory could not be made.
Expected<> make_place_as_root(const apps::User& user, const std::filesystem::path& directory);

/// The cure, as a sentence, for a directory that the user of this process cannot make.
std::string what_makes(const std::filesystem::path& directory);

/// Returns an error if this process runs as root, since PostgreSQL refuses to run as root.
Expected<> is_not_root();

}  // namespace muster::postgres
