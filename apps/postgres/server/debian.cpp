#include "apps/postgres/server/debian.hpp"

#include "apps/base/text.hpp"
#include "apps/postgres/server/own_settings.hpp"

#include <fstream>
#include <sstream>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

/// As in PostgreSQL, the last value in a file counts.
DebiansCluster cluster_in(const fs::path& own) {
  DebiansCluster cluster;
  cluster.unit =
      "postgresql@" + own.parent_path().filename().string() + "-" + own.filename().string();
  cluster.settings = own / "postgresql.conf";
  cluster.port = 5432;
  std::ifstream lines(cluster.settings);
  for (std::string line; std::getline(lines, line);) {
    const auto setting = setting_in(line);
    if (!setting) continue;
    if (setting->name == "data_directory") cluster.data = setting->value;
    if (setting->name == "port")
      cluster.port =
          static_cast<std::uint16_t>(apps::parse_number(setting->value).value_or(cluster.port));
  }
  return cluster;
}

bool begins_with_the_machine(const fs::path& start_conf) {
  std::ifstream lines(start_conf);
  for (std::string line; std::getline(lines, line);) {
    if (std::string word; std::istringstream(line) >> word && !word.starts_with('#'))
      return word == "auto";
  }
  return true;  // Debian's default as well
}

}  // namespace

std::string DebiansCluster::how_it_is_let_be() const {
  return "(systemctl stop " + unit + "; echo manual > " +
         (settings.parent_path() / "start.conf").string() + "; systemctl daemon-reload)";
}

std::vector<DebiansCluster> debians_clusters(const fs::path& clusters) {
  std::vector<DebiansCluster> found;
  std::error_code error;
  for (const auto& version : fs::directory_iterator(clusters, error)) {
    for (const auto& own : fs::directory_iterator(version, error)) {
      if (!fs::exists(own.path() / "postgresql.conf", error)) continue;
      found.push_back(cluster_in(own.path()));
      found.back().begins_with_machine = begins_with_the_machine(own.path() / "start.conf");
    }
  }
  return found;
}

std::optional<std::string> debians_own(const fs::path& clusters, std::uint16_t port) {
  for (const DebiansCluster& cluster : debians_clusters(clusters)) {
    if (cluster.begins_with_machine && cluster.port == port)
      return "Debian's own " + cluster.unit + " uses port " + std::to_string(port) +
             " and starts with this machine: disable that service " + cluster.how_it_is_let_be() +
             ", or choose another port in [cluster.postgres]";
  }
  return std::nullopt;
}

}  // namespace muster::postgres
