#pragma once

#include "apps/base/process.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// A bundle becomes a node's directory.

namespace muster::postgres {

/// The files of a bundle by their names in it, such as "tls/tls.crt".
using BundleFiles = std::map<std::filesystem::path, std::string>;

/// The names in an open directory; `path` is for the message.
Expected<std::vector<std::string>> names_in(const apps::Descriptor& directory,
                                            const std::filesystem::path& path);

/// Reads a bundle as this process's user. Links are left out, as no bundle has one.
Expected<BundleFiles> read_bundle(const std::filesystem::path& bundle);

/// Reads a bundle as root, for another user: only if all of it, and the way to it, belong to root
/// or to one other user, who could give it away as well. None: the user is to read it.
Expected<std::optional<BundleFiles>> read_bundle_as_root(const std::filesystem::path& bundle);

/// Puts a bundle into a directory that is not there, or empty, or has that very bundle, and gives
/// its configuration.
Expected<std::filesystem::path> install(const BundleFiles& files,
                                        const std::filesystem::path& directory);

}  // namespace muster::postgres
