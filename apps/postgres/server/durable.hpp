#pragma once

#include "apps/base/process.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

/// Changes files so that the change survives any later crash or loss of power.

namespace muster::postgres {

/// Writes the whole text. After a failure the file has its old contents. The entry in the directory
/// is made durable, too.
Expected<> write_durably(const std::filesystem::path& path, std::string_view text);
/// Removes a file durably. Succeeds if there is no such file.
Expected<> remove_durably(const std::filesystem::path& path);
Expected<> rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Reads a whole file. Returns nothing if there is no such file.
Expected<std::optional<std::string>> read_text(const std::filesystem::path& path);
/// Reads `size` bytes of a file from the byte `at` on. Returns fewer if the file ends before, or if
/// there is no such file.
Expected<std::string> read_part(const std::filesystem::path& path, std::uint64_t at,
                                std::size_t size);

}  // namespace muster::postgres
