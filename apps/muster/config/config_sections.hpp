#pragma once

#include "apps/muster/config/config_reader.hpp"

/// The sections of a configuration that name files, [tls], [journal],
/// [application] and [hooks]; and [log], and [cluster.postgres].

namespace muster::apps {

/// A path of a configuration, which is relative to its file.
std::filesystem::path beside(const std::filesystem::path& file, const std::string& path);

/// Refuses a Unix socket whose path is too long; `what` led to it.
void check_length(Reader& reader, std::size_t line, const std::string& what,
                  const std::filesystem::path& socket);

void read_tls(Reader& reader, const toml::table& root, const std::filesystem::path& file,
              NodeConfig& config);
void read_journal(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                  NodeConfig& config);
void read_log(Reader& reader, const toml::table& root, LogConfig& to);
void read_application(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                      NodeConfig& config);
/// What is of one node's PostgreSQL. Needs the cluster's part.
void read_postgres(Reader& reader, const toml::table& application,
                   const std::filesystem::path& file, NodeConfig& config);
/// What is the same on every node.
void read_postgres(Reader& reader, const toml::table& cluster, ClusterConfig& to);
void read_hooks(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                NodeConfig& config);

}  // namespace muster::apps
