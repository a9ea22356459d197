#include "apps/muster/config/config_sections.hpp"

#include <muster/values/text.hpp>

#include <algorithm>

/// Reads [cluster.postgres], and [application] with kind = "postgres" (docs/reference/postgres.md).

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
    return reader.refuse(Reader::line_of(*table),
                         "[cluster.postgres] has " + std::to_string(nodes) +
                             " nodes: expected all nodes of [cluster.nodes], at least three, or "
                             "two of three nodes, with the third as a witness");
  // W = `copies` of N nodes hold each commit, so any R = N - W + 1 nodes include one of them.
  // With at least 2 copies no commit is on only one node. With at most N - 1 copies a single node
  // cannot choose a primary.
  postgres.copies = reader.number(*table, "copies", nodes / 2 + 1, 2, std::max(nodes - 1, 2U));
  // In a cluster with a witness, the choice of a primary also depends on promises that the nodes of
  // this list have made, so the list cannot be changed.
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
                                               " = a PEM file, such as muster postgres init makes");
    if (std::error_code error;
        reader.looks_at_files() && !name.empty() && !std::filesystem::is_regular_file(*path, error))
      reader.refuse(*tls->get(key), key, "an existing file");
  }
  if (paths.client_key.native().find(':') != std::string::npos)
    reader.refuse(
        *tls->get("client_key"), "client_key",
        "a path without ':' (it is " + paths.client_key.string() +
            "), because libpq would take the part before ':' as the name of an OpenSSL engine");
  to.tls = std::move(paths);
}

// A witness has to be declared in both places. So a node whose address was forgotten is an error,
// and not a witness by mistake.
bool read_role(Reader& reader, const toml::table& application, const NodeConfig& config) {
  const std::string role = reader.text(application, "role", "data");
  if (role != "data" && role != "witness")
    reader.refuse(*application.get("role"), "role", "\"data\" or \"witness\"");
  const auto& postgres = config.cluster.postgres;
  if (!postgres) return false;
  const bool is_witness = !postgres->nodes.contains(config.self);
  if (is_witness != (role == "witness"))
    reader.refuse(
        Reader::line_of(application),
        is_witness
            ? "[cluster.postgres] does not have " + to_text(config.self) +
                  ": expected the address of its PostgreSQL, or role = \"witness\" in [application]"
            : "role = \"witness\": expected no " + to_text(config.self) +
                  " in [cluster.postgres], because a witness has no PostgreSQL");
  for (const char* key : {"database", "programs", "listen", "hba", "tls", "wal_keep", "marker_key",
                          "marker_period", "marker_deadline"})
    if (is_witness && application.get(key) != nullptr)
      reader.refuse(*application.get(key), key, "no such key, because a witness has no PostgreSQL");
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
      reader.refuse(*key, "programs", "a directory with PostgreSQL's server programs");
  config.application.listen = reader.text(application, "listen", "");
  if (application.get("hba") != nullptr) {
    config.application.hba = path("hba", "");
    if (std::error_code error; reader.looks_at_files() && !reader.failure() &&
                               !std::filesystem::is_regular_file(config.application.hba, error))
      reader.refuse(*application.get("hba"), "hba", "an existing file");
  }
  // The file is looked for when the node starts: a node that has none still follows its group.
  config.application.marker_key =
      path("marker_key", (config.application.database / "marker.key").string());
  config.application.marker_period =
      reader.duration(application, "marker_period", std::chrono::seconds(1),
                      std::chrono::milliseconds(100), std::chrono::minutes(1));
  config.application.marker_deadline =
      reader.duration(application, "marker_deadline", std::chrono::seconds(10),
                      2 * config.application.marker_period, std::chrono::hours(1));
  config.application.wal_keep = reader.number(application, "wal_keep", 512, 16, 1U << 20);
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
                  "kind = \"postgres\" without [cluster.postgres]: expected the address of each "
                  "node's PostgreSQL there, such as 1 = \"10.0.0.1:5432\"");
  else if (cluster.protocol != ProtocolName::bully || cluster.options.quorum != Quorum::majority)
    reader.refuse(line,
                  "kind = \"postgres\": expected quorum = \"majority\" in [cluster], so that nodes "
                  "that are cut off do not stop and start their PostgreSQL for nothing");
}

}  // namespace muster::apps
