#pragma once

#include <muster/failure.hpp>

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace muster::storage {

inline constexpr std::size_t log_header_size = 32;
inline constexpr std::size_t frame_header_size = 24;

/// Refuses a log that was damaged before its last commit. SQLite takes a log up to the first frame
/// whose checksum is wrong, and forgets all that was committed after it: right after a power cut,
/// which can only hurt the commit that was not acknowledged, wrong after any other damage. `bytes`
/// are the whole log.
Expected<> check_log(const std::filesystem::path& log, std::string_view bytes);

}  // namespace muster::storage
