#include "apps/postgres/debian.hpp"

#include "apps/base/text.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

/// The last that stands there counts, as for PostgreSQL.
std::uint64_t port_in(const fs::path& conf) {
  std::uint64_t port = 5432;
  std::ifstream lines(conf);
  for (std::string line; std::getline(lines, line);) {
    std::replace(line.begin(), line.end(), '=', ' ');
    std::istringstream words(line);
    std::string key;
    std::string value;
    if (words >> key >> value && key == "port") port = apps::parse_number(value).value_or(port);
  }
  return port;
}

bool begins_with_the_machine(const fs::path& start_conf) {
  std::ifstream lines(start_conf);
  for (std::string line; std::getline(lines, line);) {
    if (std::string word; std::istringstream(line) >> word && !word.starts_with('#'))
      return word == "auto";
  }
  return true;  // which is what Debian takes it for
}

}  // namespace

std::optional<std::string> debians_own(const fs::path& clusters, std::uint16_t port) {
  std::error_code error;
  for (const auto& version : fs::directory_iterator(clusters, error)) {
    for (const auto& cluster : fs::directory_iterator(version, error)) {
      const fs::path& own = cluster.path();
      const fs::path start = own / "start.conf";
      if (!fs::exists(own / "postgresql.conf", error) || !begins_with_the_machine(start) ||
          port_in(own / "postgresql.conf") != port)
        continue;
      const std::string unit =
          "postgresql@" + version.path().filename().string() + "-" + own.filename().string();
      return "Debian's own " + unit + " has port " + std::to_string(port) +
             " and begins with this machine: let it be (systemctl stop " + unit +
             "; echo manual > " + start.string() +
             "; systemctl daemon-reload), or give [cluster.postgres] another port";
    }
  }
  return std::nullopt;
}

}  // namespace muster::postgres
