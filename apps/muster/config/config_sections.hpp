#pragma once

#include "apps/muster/config/config_reader.hpp"

/// Reads the sections that name files ([tls], [journal], [application] and [hooks]), and also [log]
/// and [cluster.postgres].

namespace muster::apps {

/// The absolute form of a path in a configuration. A relative path starts at the directory of the
/// configuration file.
std::filesystem::path beside(const std::filesystem::path& file, const std::string& path);

/// Refuses a Unix socket whose path is too long. `what` is the setting that gives the path.
void check_length(Reader& reader, std::size_t line, const std::string& what,
                  const std::filesystem::path& socket);

void read_tls(Reader& reader, const toml::table& root, const std::filesystem::path& file,
              NodeConfig& config);
void read_journal(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                  NodeConfig& config);
void read_log(Reader& reader, const toml::table& root, LogConfig& to);
void read_application(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                      NodeConfig& config);
/// Reads the settings of this node's PostgreSQL. Call this after [cluster] is read.
void read_postgres(Reader& reader, const toml::table& application,
                   const std::filesystem::path& file, NodeConfig& config);
/// Reads [cluster.postgres], which is the same on every node.
void read_postgres(Reader& reader, const toml::table& cluster, ClusterConfig& to);
void read_hooks(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                NodeConfig& config);

}  // namespace muster::apps
