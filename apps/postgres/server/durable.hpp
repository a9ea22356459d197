#pragma once

#include "apps/base/process.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

/// Files that are there, or gone, whatever fails afterwards.

namespace muster::postgres {

/// The whole text or, after a failure, what was there before. The directory is durable, too.
Expected<> write_durably(const std::filesystem::path& path, std::string_view text);
/// No failure where there is none.
Expected<> remove_durably(const std::filesystem::path& path);
Expected<> rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// None where there is no such file.
Expected<std::optional<std::string>> read_text(const std::filesystem::path& path);

}  // namespace muster::postgres
