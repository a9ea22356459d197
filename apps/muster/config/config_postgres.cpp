#include "apps/muster/config/config_sections.hpp"

#include <muster/values/text.hpp>

/// [cluster.postgres], and [application] with kind = "postgres" (docs/postgres.md).

namespace muster::apps {

void read_postgres(Reader& reader, const toml::table& cluster, ClusterConfig& to) {
  const toml::table* table = reader.table(cluster, "postgres", false);
  if (table == nullptr) return;
  PostgresConfig postgres;
  read_addresses(reader, *table, "[cluster.postgres]", postgres.nodes, "copies");
  for (const auto& [id, address] : postgres.nodes)
    if (!to.nodes.contains(id))
      return reader.refuse(Reader::line_of(*table->get(to_text(id))),
                           to_text(id) +
                               " in [cluster.postgres]: expected a node of "
                               "[cluster.nodes]");
  const auto nodes = static_cast<std::uint32_t>(postgres.nodes.size());
  if (nodes < 3 || nodes != to.nodes.size())
    return reader.refuse(
        Reader::line_of(*table),
        "[cluster.postgres] has " + std::to_string(nodes) +
            " nodes: expected all of [cluster.nodes], and at least three; with two "
            "either loss would end all writing");
  // Any R of N - W + 1 nodes may choose; with fewer copies than half one node could be all of them.
  postgres.copies = reader.number(*table, "copies", nodes / 2 + 1, 2, nodes - 1);
  to.postgres = std::move(postgres);
}

void read_postgres(Reader& reader, const toml::table& application,
                   const std::filesystem::path& file, NodeConfig& config) {
  const auto line = Reader::line_of(application);
  const auto path = [&](const char* key, const std::string& usual) {
    return beside(file, reader.text(application, key, usual));
  };
  config.application.database = path("database", "pg" + to_text(config.self));
  config.application.programs = path("programs", "/usr/lib/postgresql/15/bin");
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
