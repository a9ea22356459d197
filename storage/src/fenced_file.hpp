#pragma once

#include "database.hpp"

#include <muster/storage/fenced_store.hpp>

/// The file of a FencedStore: how it is made, what is refused, how it is set up.

namespace muster::storage {

/// A connection to the store, which was made where there was none, and found to be sound.
Expected<Database> open_fenced_file(const std::filesystem::path& file,
                                    const FencedOptions& options);

/// The checksum of the highest group number of a name.
std::int64_t checksum_of_fence(std::string_view name, const GroupNumber& group);

/// The checksum of a cell: a value under another name or key does not pass.
std::int64_t checksum_of_cell(std::string_view name, std::string_view key, std::string_view value);

}  // namespace muster::storage
