#pragma once

#include <muster/values/failure.hpp>

#include <filesystem>
#include <string>

/// Files of certificates and keys: whole under their names at once, or not at all.

namespace muster::certificates {

Failure cannot(const char* what, const std::filesystem::path& file, const std::string& why);

/// At most 1 MiB.
Expected<std::string> read_file(const std::filesystem::path& file);

/// Makes a directory that others may not enter. One that is there already has to be empty.
Expected<> make_private_directory(const std::filesystem::path& directory);

/// Others may not read it. Takes the place of what is there, or fails.
Expected<> write_private(const std::filesystem::path& file, const std::string& bytes,
                         bool replace = false);
Expected<> write_public(const std::filesystem::path& file, const std::string& bytes,
                        bool replace = false);

}  // namespace muster::certificates
