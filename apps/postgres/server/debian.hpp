#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// The databases that Debian itself runs.

namespace muster::postgres {

struct DebiansCluster {
  std::string unit;  ///< "postgresql@15-main"
  /// Its postgresql.conf, which is outside its data directory.
  std::filesystem::path settings;
  std::filesystem::path data;
  std::uint16_t port{};
  bool begins_with_machine{};

  /// The commands that keep Debian from starting this database, in parentheses.
  [[nodiscard]] std::string how_it_is_let_be() const;
};

/// The clusters of Debian that are configured below that directory (/etc/postgresql).
std::vector<DebiansCluster> debians_clusters(const std::filesystem::path& clusters);

/// If one of Debian's clusters uses that port and starts with the machine, returns a sentence that
/// says so, with the cure. The clusters are configured below `clusters` (/etc/postgresql). None: no
/// cluster of Debian does both.
std::optional<std::string> debians_own(const std::filesystem::path& clusters, std::uint16_t port);

}  // namespace muster::postgres
