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

// The others would notice it when this node is primary, and nobody could follow.
Expected<> look_at_certificate(const NodeConfig& config, const InstanceOptions& options) {
  if (!options.credentials) return {};
  const fs::path& file = options.credentials->server_certificate;
  const std::string& host = options.nodes.at(options.node).host;
  const auto is_its = certificates::is_for_host(file, host);
  if (!is_its) return is_its.error();
  if (!*is_its)
    return wrong(config, "cert in [application.tls], " + file.string() + ", is not for " + host +
                             ", where [cluster.postgres] has this node: the others would not "
                             "follow it; put this node's own there");
  const auto entry = certificates::entry_of(file);
  if (entry && entry->expires < certificates::Clock::now())
    return wrong(config, "cert in [application.tls], " + file.string() +
                             ", is not valid any more: the others would not follow it; renew it");
  return {};
}

/// The first of the directories above that one which this user may not enter; none: it may each.
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
                   "say of which node: a bundle and --data DIR, or --config FILE; see --help"};
  if (flags.bundle.empty()) return flags.node.load();
  if (flags.directory.empty())
    return Failure{ExitCode::usage, "say where the bundle is to be, with --data DIR"};
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
    return wrong(config, "has no [application] with kind = \"postgres\"; see docs/postgres.md");
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
  options.forgotten = config.data / "promise.forgotten";
  if (const auto& tls = config.application.tls)
    options.credentials = {
        tls->ca, tls->crl, tls->certificate, tls->key, tls->client_certificate, tls->client_key};
  return options;
}

// Nor has a witness what proves to the others' databases who it is.
Expected<InstanceOptions> options_of_running(const NodeConfig& config) {
  if (config.application.witness)
    return wrong(config,
                 "is of a witness, which has no database: of muster postgres it has run; muster "
                 "members says who is primary, and the other nodes have the rest");
  return options_in(config);
}

Expected<InstanceOptions> options_of(const NodeConfig& config) {
  auto options = options_of_running(config);
  if (!options) return options;
  if (const auto may = is_not_root(); !may) return may.error();
  std::error_code error;
  if (!fs::exists(options->programs / "postgres", error))
    return wrong(config, "there is no PostgreSQL at " + options->programs.string() +
                             ": install it (Debian: postgresql-15), or name where it is with "
                             "programs = \"...\" in [application]");
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
                             "; remove it first, if it may be lost");
  for (const bool lost : {false, true}) {
    const fs::path adopted = adopted_path(*options, lost);
    if (fs::exists(adopted, error) && (flags.adopt.empty() || flags.force != lost))
      return wrong(config, "a database is being adopted, and is at " + adopted.string() +
                               ": go on with the muster postgres create --adopt " +
                               (lost ? "--force " : "") + "that began it");
  }
  if (const auto own = debians_own("/etc/postgresql", options->nodes.at(options->node).port))
    return wrong(config, *own);
  if (const auto made = make_directory(*options); !made) return made.error();
  return options;
}

}  // namespace muster::postgres
