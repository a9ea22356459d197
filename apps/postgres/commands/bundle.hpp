#pragma once

#include "apps/base/process.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Turns a bundle into a node's directory.

namespace muster::postgres {

/// The files of a bundle by their names in it, such as "tls/tls.crt".
using BundleFiles = std::map<std::filesystem::path, std::string>;

/// The names in an open directory. `path` is only for the error message.
Expected<std::vector<std::string>> names_in(const apps::Descriptor& directory,
                                            const std::filesystem::path& path);

/// Reads a bundle as this process's user. Leaves out links, since no bundle contains a link.
Expected<BundleFiles> read_bundle(const std::filesystem::path& bundle);

/// Reads a bundle as root, for another user. Reads it only if the bundle and the path to it belong
/// to root or to one other user: that user could give the files away without root's help, too.
/// Otherwise returns nothing, and the other user has to read the bundle.
Expected<std::optional<BundleFiles>> read_bundle_as_root(const std::filesystem::path& bundle);

/// Puts a bundle into a directory that does not exist, is empty, or has that very bundle. Returns
/// the path of its configuration.
Expected<std::filesystem::path> install(const BundleFiles& files,
                                        const std::filesystem::path& directory);

}  // namespace muster::postgres
