#include "apps/certificates/authority.hpp"
#include "apps/postgres/adopting/adopt.hpp"
#include "apps/postgres/commands/as_user.hpp"
#include "apps/postgres/server/credentials.hpp"
#include "apps/postgres/server/debian.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace muster::postgres {

namespace fs = std::filesystem;
using apps::NodeConfig;

namespace {

// The other nodes check this node's certificate only when this node is primary. With a wrong
// certificate no node could follow it, so the certificate is checked here in advance.
Expected<> look_at_certificate(const NodeConfig& config, const InstanceOptions& options) {
  if (!options.credentials) return {};
  const fs::path& file = options.credentials->server_certificate;
  const std::string& host = options.nodes.at(options.node).host;
  const auto is_its = certificates::is_for_host(file, host);
  if (!is_its) return is_its.error();
  if (!*is_its)
    return wrong(config, "cert in [application.tls], " + file.string() + ", is not for " + host +
                             ", the host of this node in [cluster.postgres]: the other nodes would "
                             "not follow it; name this node's own certificate there");
  const auto entry = certificates::entry_of(file);
  if (entry && entry->expires < certificates::Clock::now())
    return wrong(
        config,
        "cert in [application.tls], " + file.string() +
            ", has expired: the other nodes would not follow this one; renew the certificate");
  return {};
}

/// The first directory above `directory` that the user of this process has no right to enter. None:
/// the user can enter all of them.
std::optional<fs::path> closed_above(const fs::path& directory) {
  fs::path above;
  for (const fs::path& part : fs::absolute(directory).parent_path()) {
    above /= part;
    if (::access(above.c_str(), X_OK) != 0 && errno == EACCES) return above;
  }
  return std::nullopt;
}

}  // namespace

Expected<NodeConfig> node_of(const Flags& flags) {
  if (flags.bundle.empty() == flags.node.config.empty())
    return Failure{ExitCode::usage,
                   "no node is named: name a bundle and --data DIR, or --config FILE; see --help"};
  if (flags.bundle.empty()) return flags.node.load();
  if (flags.directory.empty())
    return Failure{ExitCode::usage,
                   "no place is named for the bundle: name a new directory with --data DIR"};
  if (const auto may = is_not_root(); !may) return may.error();
  auto files = flags.bundle_files ? *flags.bundle_files : read_bundle(flags.bundle);
  if (!files) return files.error();
  const auto config = install(*files, flags.directory);
  if (!config) return config.error();
  apps::NodeFlags node = flags.node;
  node.config = *config;
  return node.load();
}

Failure wrong(const NodeConfig& config, const std::string& what) {
  return {ExitCode::bad_configuration, config.file.string() + ": " + what};
}

Expected<InstanceOptions> options_in(const NodeConfig& config) {
  if (config.application.kind != "postgres")
    return wrong(config,
                 "there is no [application] with kind = \"postgres\": add it; see "
                 "docs/reference/postgres.md");
  InstanceOptions options;
  options.data = config.application.database / "data";
  options.programs = config.application.programs;
  options.sockets = config.application.database;
  options.node = config.self;
  for (const auto& [id, address] : config.cluster.postgres->nodes)
    options.nodes[id] = {address.host, address.port};
  for (const auto& [id, address] : config.cluster.nodes)
    if (!options.nodes.contains(id)) options.witnesses.insert(id);
  options.copies_of_commit = config.cluster.postgres->copies;
  options.generation = config.cluster.postgres->generation;
  options.listen = config.application.listen;
  options.hba = config.application.hba;
  options.cluster = config.cluster.name;
  auto keys = MarkerKeys::read(config.application.marker_key);
  if (!keys) return keys.error();
  options.marker_keys = *std::move(keys);
  options.marks_every = config.application.marker_period;
  options.longest_silence = config.application.marker_deadline;
  options.wal_keep = config.application.wal_keep;
  options.forgotten = config.data / "promise.forgotten";
  if (const auto& tls = config.application.tls)
    options.credentials = {
        tls->ca, tls->crl, tls->certificate, tls->key, tls->client_certificate, tls->client_key};
  return options;
}

// A witness has no certificate that proves its identity to the other nodes' databases.
Expected<InstanceOptions> options_of_running(const NodeConfig& config) {
  if (config.application.witness)
    return wrong(config,
                 "this node is a witness, which has no database: run this command on another node; "
                 "here, muster members says which node is the primary");
  return options_in(config);
}

Expected<InstanceOptions> options_of(const NodeConfig& config) {
  auto options = options_of_running(config);
  if (!options) return options;
  if (const auto may = is_not_root(); !may) return may.error();
  std::error_code error;
  if (!fs::exists(options->programs / "postgres", error))
    return wrong(config, "there is no PostgreSQL at " + options->programs.string() +
                             ": install it (Debian: postgresql-15), or name the directory of its "
                             "programs with programs = \"...\" in [application]");
  if (const auto right = look_at_keys(*options); !right) return right.error();
  if (const auto right = look_at_certificate(config, *options); !right) return right.error();
  return options;
}

Expected<> make_directory(const InstanceOptions& options) {
  std::error_code error;
  const fs::path directory = options.data.parent_path();
  if (const auto closed = closed_above(directory))
    return Failure{ExitCode::bad_configuration,
                   directory.string() + ": PostgreSQL's user may not enter " + closed->string() +
                       ": choose a place that it can reach, such as below /var/lib"};
  fs::create_directories(directory, error);
  if (!error) fs::permissions(directory, fs::perms::owner_all, error);
  if (error)
    return Failure{ExitCode::bad_configuration, directory.string() +
                                                    ": the database's directory cannot be made: " +
                                                    error.message() + "; " + what_makes(directory)};
  if (!options.hba.empty()) return write_ident(options);
  return {};
}

Expected<InstanceOptions> empty_place(const NodeConfig& config, const Flags& flags) {
  auto options = options_of(config);
  if (!options) return options;
  std::error_code error;
  if (fs::exists(options->data, error))
    return wrong(config, "there is a database already at " + options->data.string() +
                             "; move it away first, or delete it if it is not needed");
  for (const bool lost : {false, true}) {
    const fs::path adopted = adopted_path(*options, lost);
    if (fs::exists(adopted, error) && (flags.adopt.empty() || flags.force != lost))
      return wrong(config, "the adoption of a database has not finished, and the database is at " +
                               adopted.string() +
                               ": to continue, run the same muster postgres create --adopt" +
                               (lost ? " --force" : "") + " again");
  }
  if (const auto own = debians_own("/etc/postgresql", options->nodes.at(options->node).port))
    return wrong(config, *own);
  if (const auto made = make_directory(*options); !made) return made.error();
  return options;
}

}  // namespace muster::postgres
