#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Debian runs databases of its own.

namespace muster::postgres {

struct DebiansCluster {
  std::string unit;                ///< "postgresql@15-main"
  std::filesystem::path settings;  ///< its postgresql.conf, which is not in its data directory
  std::filesystem::path data;
  std::uint16_t port{};
  bool begins_with_machine{};

  /// The commands, in parentheses.
  [[nodiscard]] std::string how_it_is_let_be() const;
};

/// Those that are configured below that directory (/etc/postgresql).
std::vector<DebiansCluster> debians_clusters(const std::filesystem::path& clusters);

/// What to do where one of Debian's clusters, which are configured below that directory
/// (/etc/postgresql), begins with the machine and has that port; none where none does.
std::optional<std::string> debians_own(const std::filesystem::path& clusters, std::uint16_t port);

}  // namespace muster::postgres
