#pragma once

#include <muster/values/failure.hpp>

#include <filesystem>
#include <string>

/// Writes files of certificates and keys: each appears under its name complete, or not at all.

namespace muster::certificates {

Failure cannot(const char* what, const std::filesystem::path& file, const std::string& why);

/// Reads at most 1 MiB.
Expected<std::string> read_file(const std::filesystem::path& file);

/// Makes a directory that only this user may enter. An existing one has to be empty.
Expected<> make_private_directory(const std::filesystem::path& directory);

/// Writes a file that only this user may read. If the file exists, `replace` decides whether it is
/// replaced or the call fails.
Expected<> write_private(const std::filesystem::path& file, const std::string& bytes,
                         bool replace = false);
Expected<> write_public(const std::filesystem::path& file, const std::string& bytes,
                        bool replace = false);

}  // namespace muster::certificates
