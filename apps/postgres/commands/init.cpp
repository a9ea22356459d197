#include "apps/base/text.hpp"
#include "apps/bundles/bundles.hpp"
#include "apps/bundles/hosts.hpp"
#include "apps/certificates/files.hpp"
#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/server/credentials.hpp"

#include <iostream>

/// `muster postgres init`: makes a bundle for each node.

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;
using apps::Bundle;
using apps::NodeConfig;
using Nodes = std::map<NodeId, muster::Address>;

constexpr const char* hba = "pg_hba.conf";
constexpr const char* marker_key = "marker.key";

/// True if this machine may resolve the name to another address than other machines do. Debian, for
/// example, maps a machine's own name to a loopback address.
bool may_be_another_here(const muster::Address& address) {
  return !address.is_loopback() && address.host.find(':') == std::string::npos &&
         address.host.find_first_not_of("0123456789.") != std::string::npos;
}

/// The databases of the nodes. The witness, which is the last node, has no database.
Expected<Nodes> databases_of(const Nodes& nodes, unsigned port, bool witness) {
  constexpr unsigned most = 65535;
  Nodes databases;
  for (const auto& [id, address] : nodes) {
    if (witness && id == nodes.rbegin()->first) continue;
    databases[id] = {address.host, static_cast<std::uint16_t>(std::min(port, most))};
    if (databases[id] == address)
      return Failure{ExitCode::usage,
                     address.text() +
                         " would be the address of the node and of its PostgreSQL: choose two "
                         "different ports with --port and --node-port"};
    if (address.is_loopback()) ++port;
  }
  return databases;
}

NodeConfig config_of(const InitFlags& flags, const Nodes& nodes, const Nodes& databases) {
  NodeConfig config = apps::bundled(flags.cluster, nodes);
  config.cluster.options.quorum = Quorum::majority;
  config.cluster.timings.stop_deadline = 500ms;
  config.cluster.timings.start_deadline = 10s;
  config.cluster.postgres = apps::PostgresConfig{
      databases, static_cast<unsigned>(databases.size() / 2 + 1), flags.generation};
  apps::ApplicationConfig& to = config.application;
  to.kind = "postgres";
  to.database = "database";
  to.programs = "/usr/lib/postgresql/15/bin";
  to.hba = hba;
  to.marker_key = marker_key;
  to.tls = apps::PostgresTls{"server/ca.crt",  "server/crl.pem", "server/tls.crt",
                             "server/tls.key", "client/tls.crt", "client/tls.key"};
  return config;
}

Bundle witness_of(NodeConfig config, const std::string& cluster, const muster::Address& address) {
  config.application = {};
  config.application.kind = "postgres";
  config.application.witness = true;
  const std::string number = std::to_string(config.self.value);
  return {"n" + number,
          apps::bundled_text(config, "Node " + number + " of the cluster " + cluster +
                                         ", its witness, at " + address.text() +
                                         ": made by muster postgres init."),
          {apps::certificate_of(config)},
          {}};
}

std::vector<Bundle> bundles_of(const InitFlags& flags, const Nodes& nodes, const Nodes& databases,
                               const std::string& key) {
  NodeConfig config = config_of(flags, nodes, databases);
  const std::string role = InstanceOptions().role;
  const std::string uri = "muster://" + flags.cluster + "/postgres/";
  std::vector<Bundle> bundles;
  for (const auto& [id, address] : nodes) {
    const std::string number = std::to_string(id.value);
    config.self = id;
    const bool everywhere = may_be_another_here(address);
    config.listen =
        everywhere ? std::optional(muster::Address{"0.0.0.0", address.port}) : std::nullopt;
    config.application.listen = everywhere ? "0.0.0.0" : "";
    if (!databases.contains(id)) {
      bundles.push_back(witness_of(config, flags.cluster, address));
      continue;
    }
    certificates::Subject server{uri + number + "/server", address.host, {address.host}};
    server.dials = false;
    certificates::Subject client{uri + number + "/client", role};
    client.serves = false;
    bundles.push_back({"n" + number,
                       apps::bundled_text(
                           config, "Node " + number + " of the cluster " + flags.cluster +
                                       " and its PostgreSQL, at " + address.text() + " and " +
                                       databases.at(id).text() + ": made by muster postgres init."),
                       {apps::certificate_of(config), {"server", server}, {"client", client}},
                       {{hba, bundled_hba(role)}, {marker_key, key}}});
  }
  return bundles;
}

/// A new key, or the key of a cluster that exists, which is kept beside its authority.
Expected<std::string> key_for(const InitFlags& flags) {
  if (flags.authority.empty()) return new_marker_key();
  const auto file = flags.authority / marker_key;
  const auto text = read_text(file);
  if (!text) return text.error();
  if (*text) return **text;
  std::error_code error;
  if (!std::filesystem::exists(flags.authority / "ca.crt", error)) return std::string();  // refused
  return Failure{ExitCode::bad_configuration,
                 file.string() +
                     " does not exist: copy the file that marker_key names on any node to this "
                     "place; if the cluster has no such file yet, run muster postgres key first"};
}

void tell_next(const InitFlags& flags, const std::string& at) {
  std::cout
      << at << " has a bundle for each node of generation " << flags.generation
      << " of the node list: n1, n2, ...\nnext, when muster postgres status says that all nodes "
         "follow:\n"
      << "  on each new node, such as n4: muster postgres join n4 --data DIR --user postgres, then "
         "run it\n"
      << "  on each present node, the primary last: replace its muster.toml with that of its "
         "bundle, and restart it; from the second restart on, nobody can write until enough nodes "
         "have the new list\n";
}

void tell(const std::string& at, const Nodes& nodes, const Nodes& databases) {
  std::string hosts;
  std::string ports;
  for (const auto& [id, address] : databases) {
    hosts += (hosts.empty() ? "" : ",") + address.host;
    ports += (ports.empty() ? "" : ",") + std::to_string(address.port);
  }
  std::cout
      << at << " has a bundle for each node, n1, n2, ..., and ca, the authority that signs their "
      << "certificates: keep ca off every node, in a place that nobody else can reach, because "
      << "anyone with ca.key can act as any node and as PostgreSQL's superuser\nnext:\n";
  if (!nodes.begin()->second.is_loopback())
    std::cout << "  copy each bundle to its host, as root: " << apps::copies_text(nodes) << '\n';
  std::cout
      << "  on one node, once: muster postgres create n1 --data DIR --user postgres\n"
      << "  then run it: muster postgres run --config DIR/muster.toml --user postgres, or, if the "
         "package is installed and DIR is /var/lib/muster-postgres/n1: systemctl enable --now "
         "muster-postgres@n1\n"
      << "  on each other node: muster postgres join n2 --data DIR --user postgres, then run it"
      << (databases.size() < nodes.size() ? "; the witness clones nothing\n" : "\n")
      << "clients: psql \"host=" << hosts << " port=" << ports
      << " target_session_attrs=read-write connect_timeout=2 sslmode=verify-full sslrootcert=" << at
      << "/ca/ca.crt dbname=... user=...\"\n";
}

}  // namespace

int init(const InitFlags& flags) {
  if (!apps::is_cluster_name(flags.cluster))
    return apps::failed({ExitCode::usage, "--cluster " + flags.cluster +
                                              ": expected 1 to 64 letters, digits, '.', '_', '-'"});
  const bool witness = !flags.witness.empty();
  const auto nodes =
      apps::addresses_of(flags.nodes + (witness ? "," + flags.witness : ""), flags.node_port);
  if (!nodes) return apps::failed(nodes.error());
  if (nodes->size() < 3 || (witness && nodes->size() != 3))
    return apps::failed(
        {ExitCode::usage, witness ? "--witness HOST: expected one host, and exactly two in --nodes"
                                  : "--nodes: expected at least three hosts, or "
                                    "two and --witness HOST"});
  if (flags.authority.empty() != (flags.generation == 1) || (witness && flags.generation > 1))
    return apps::failed({ExitCode::usage,
                         "--ca and --generation go together, without --witness: they make the next "
                         "node list of an existing cluster, such as --ca pg/ca --generation 2"});
  const auto databases = databases_of(*nodes, flags.port, witness);
  if (!databases) return apps::failed(databases.error());
  const auto directory =
      std::filesystem::path(flags.directory.empty() ? flags.cluster : flags.directory) / "";
  const auto named = directory.parent_path();  // without a slash at the end
  const auto key = key_for(flags);
  if (!key) return apps::failed(key.error());
  const auto made = apps::make_bundles(
      named, flags.cluster, bundles_of(flags, *nodes, *databases, *key), flags.authority);
  if (!made) return apps::failed(made.error());
  if (flags.authority.empty())
    if (const auto kept = certificates::write_private(named / "ca" / marker_key, *key); !kept)
      return apps::failed(kept.error());
  if (flags.generation > 1) return tell_next(flags, named.string()), 0;
  tell(named.string(), *nodes, *databases);
  return 0;
}

}  // namespace muster::postgres
