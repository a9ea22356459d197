#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

/// Debian runs databases of its own.

namespace muster::postgres {

/// What to do where one of Debian's clusters, which are configured below that directory
/// (/etc/postgresql), begins with the machine and has that port; none where none does.
std::optional<std::string> debians_own(const std::filesystem::path& clusters, std::uint16_t port);

}  // namespace muster::postgres
