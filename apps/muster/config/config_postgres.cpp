#include "apps/muster/config/config_sections.hpp"

#include <muster/values/text.hpp>

#include <algorithm>

/// [cluster.postgres], and [application] with kind = "postgres" (docs/postgres.md).

namespace muster::apps {

void read_postgres(Reader& reader, const toml::table& cluster, ClusterConfig& to) {
  const toml::table* table = reader.table(cluster, "postgres", false);
  if (table == nullptr) return;
  PostgresConfig postgres;
  read_addresses(reader, *table, "[cluster.postgres]", postgres.nodes, {"copies", "generation"});
  for (const auto& [id, address] : postgres.nodes)
    if (!to.nodes.contains(id))
      return reader.refuse(Reader::line_of(*table->get(to_text(id))),
                           to_text(id) +
                               " in [cluster.postgres]: expected a node of "
                               "[cluster.nodes]");
  const auto nodes = static_cast<std::uint32_t>(postgres.nodes.size());
  const bool has_witness = nodes == 2 && to.nodes.size() == 3;
  if (!has_witness && (nodes < 3 || nodes != to.nodes.size()))
    return reader.refuse(
        Reader::line_of(*table),
        "[cluster.postgres] has " + std::to_string(nodes) +
            " nodes: expected all of [cluster.nodes], and at least three, or two of "
            "three, of which the third is a witness");
  // Any R of N - W + 1 nodes may choose; with fewer copies than half one node could be all of them.
  postgres.copies = reader.number(*table, "copies", nodes / 2 + 1, 2, std::max(nodes - 1, 2U));
  // With a witness what a node has been promised counts, and no other list knows of that.
  postgres.generation =
      reader.number(*table, "generation", 1, 1, has_witness ? 1 : std::uint32_t{1} << 30);
  to.postgres = std::move(postgres);
}

namespace {

void read_postgres_tls(Reader& reader, const toml::table& application,
                       const std::filesystem::path& file, ApplicationConfig& to) {
  const toml::table* const tls = reader.table(application, "tls", false);
  if (tls == nullptr) return;
  reader.only(*tls, "[application.tls]", {"ca", "crl", "cert", "key", "client_cert", "client_key"});
  PostgresTls paths;
  for (const auto& [key, path] :
       {std::pair("ca", &paths.ca), std::pair("crl", &paths.crl),
        std::pair("cert", &paths.certificate), std::pair("key", &paths.key),
        std::pair("client_cert", &paths.client_certificate),
        std::pair("client_key", &paths.client_key)}) {
    const std::string name = reader.text(*tls, key, "");
    if (!name.empty()) *path = beside(file, name);
    if (name.empty() && path != &paths.crl)
      reader.refuse(Reader::line_of(*tls), "[application.tls] has no " + std::string(key) +
                                               ": expected " + key +
                                               " = a file in PEM, as muster postgres init makes");
    if (std::error_code error;
        reader.looks_at_files() && !name.empty() && !std::filesystem::is_regular_file(*path, error))
      reader.refuse(*tls->get(key), key, "a file that is there");
  }
  if (paths.client_key.native().find(':') != std::string::npos)
    reader.refuse(*tls->get("client_key"), "client_key",
                  "a path without ':' (it is " + paths.client_key.string() +
                      "), as libpq would load a library of the name before it");
  to.tls = std::move(paths);
}

// Said where it runs, too: who only forgets an address has no database by mistake.
bool read_role(Reader& reader, const toml::table& application, const NodeConfig& config) {
  const std::string role = reader.text(application, "role", "data");
  if (role != "data" && role != "witness")
    reader.refuse(*application.get("role"), "role", "\"data\" or \"witness\"");
  const auto& postgres = config.cluster.postgres;
  if (!postgres) return false;
  const bool is_witness = !postgres->nodes.contains(config.self);
  if (is_witness != (role == "witness"))
    reader.refuse(Reader::line_of(application),
                  is_witness ? "[cluster.postgres] does not have " + to_text(config.self) +
                                   ": expected where its PostgreSQL is reached, or role = "
                                   "\"witness\" in [application]"
                             : "role = \"witness\": expected no " + to_text(config.self) +
                                   " in [cluster.postgres], as a witness has no PostgreSQL");
  for (const char* key : {"database", "programs", "listen", "hba", "tls"})
    if (is_witness && application.get(key) != nullptr)
      reader.refuse(*application.get(key), key, "no such key, as a witness has no PostgreSQL");
  return is_witness;
}

void read_database(Reader& reader, const toml::table& application,
                   const std::filesystem::path& file, NodeConfig& config) {
  const auto path = [&](const char* key, const std::string& usual) {
    return beside(file, reader.text(application, key, usual));
  };
  config.application.database = path("database", "pg" + to_text(config.self));
  config.application.programs = path("programs", "/usr/lib/postgresql/15/bin");
  if (const auto* key = application.get("programs"); key != nullptr && reader.looks_at_files())
    if (std::error_code error;
        !std::filesystem::exists(config.application.programs / "postgres", error))
      reader.refuse(*key, "programs", "a directory that has PostgreSQL's own programs");
  config.application.listen = reader.text(application, "listen", "");
  if (application.get("hba") != nullptr) {
    config.application.hba = path("hba", "");
    if (std::error_code error; reader.looks_at_files() && !reader.failure() &&
                               !std::filesystem::is_regular_file(config.application.hba, error))
      reader.refuse(*application.get("hba"), "hba", "a file that is there");
  }
  read_postgres_tls(reader, application, file, config.application);
}

}  // namespace

void read_postgres(Reader& reader, const toml::table& application,
                   const std::filesystem::path& file, NodeConfig& config) {
  const auto line = Reader::line_of(application);
  config.application.witness = read_role(reader, application, config);
  if (!config.application.witness) read_database(reader, application, file, config);
  const ClusterConfig& cluster = config.cluster;
  if (!cluster.postgres)
    reader.refuse(line,
                  "kind = \"postgres\" without [cluster.postgres]: expected where each node's "
                  "PostgreSQL is reached, such as 1 = \"10.0.0.1:5432\"");
  else if (cluster.protocol != ProtocolName::bully || cluster.options.quorum != Quorum::majority)
    reader.refuse(line,
                  "kind = \"postgres\": expected quorum = \"majority\" in [cluster], so that a "
                  "part that is cut off does not stop and start its PostgreSQL for nothing");
}

}  // namespace muster::apps
