#pragma once

#include "database.hpp"

#include <muster/storage/fenced_store.hpp>

/// The file of a FencedStore: creation, checks and settings.

namespace muster::storage {

/// Opens the file and checks all of its contents. If the file does not exist, it is made first.
Expected<Database> open_fenced_file(const std::filesystem::path& file,
                                    const FencedOptions& options);

/// The checksum of the highest group number that is stored under a name.
std::int64_t checksum_of_fence(std::string_view name, const GroupNumber& group);

/// The checksum of a cell. The checksum covers the name and the key, so a value that is stored
/// under another key is detected.
std::int64_t checksum_of_cell(std::string_view name, std::string_view key, std::string_view value);

}  // namespace muster::storage
