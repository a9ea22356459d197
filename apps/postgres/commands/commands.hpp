#pragma once

#include "apps/base/failed.hpp"
#include "apps/hosting/node_flags.hpp"
#include "apps/hosting/run_node.hpp"
#include "apps/postgres/commands/bundle.hpp"
#include "apps/postgres/server/options.hpp"

#include <cstdint>
#include <string>

/// The commands of `muster postgres`, one file each. Each function returns the exit code.

namespace muster::postgres {

struct Flags {
  apps::NodeFlags node;
  std::string user;
  std::uint32_t from = 0;  ///< the node to clone from; 0: any other node
  /// The bundle whose files are put into `directory`. Its configuration is used instead of a
  /// configuration file.
  std::filesystem::path bundle;
  /// The files of `bundle`, if root has read them before it switched to another user.
  std::optional<BundleFiles> bundle_files;
  std::filesystem::path directory;  ///< where the bundle is put
  std::uint32_t to = 0;             ///< the node that should become primary
  std::filesystem::path adopt;      ///< an existing database; empty: a new one is made
  bool force = false;               ///< the database at `adopt` is from a lost cluster
  bool another = false;             ///< add another marker key beside the present one
};

struct InitFlags {
  std::string nodes;
  std::string witness;  ///< empty: no witness
  std::string cluster = "pg";
  std::string directory;
  /// The certificate authority of an existing cluster. Empty: a new authority is made.
  std::filesystem::path authority;
  unsigned generation = 1;
  std::uint16_t port = 5432;       ///< port of PostgreSQL
  std::uint16_t node_port = 7100;  ///< port of each node whose host has no port
};

int init(const InitFlags& flags);
/// The options of a command that only reads.
struct AskFlags {
  std::string config;
  bool json = false;
};

int check(const AskFlags& flags);
int status(const AskFlags& flags);
int create(const Flags& flags);
/// Turns the database at `flags.adopt` into the database of the node.
int adopt(const Flags& flags, const apps::NodeConfig& config);
int join(const Flags& flags);
int key(const Flags& flags);
int rejoin(const Flags& flags);
int run(const Flags& flags);
int switch_over(const Flags& flags);

/// The configuration that the flags name. If the flags name a bundle, installs the bundle first,
/// and returns the bundle's configuration.
Expected<apps::NodeConfig> node_of(const Flags& flags);

/// Makes an error that names the configuration file and says what is wrong in it.
Failure wrong(const apps::NodeConfig& config, const std::string& what);
/// The options of a node or a witness. Fails if [application] is of another kind.
Expected<InstanceOptions> options_in(const apps::NodeConfig& config);
/// The options for a command that only asks PostgreSQL. Fails on a witness, which has no
/// PostgreSQL.
Expected<InstanceOptions> options_of_running(const apps::NodeConfig& config);
/// The options of a node with a database. The error names the missing part: [application],
/// PostgreSQL, or a user other than root.
Expected<InstanceOptions> options_of(const apps::NodeConfig& config);
/// Makes the directory that contains the data directory, accessible only to the user of this
/// process.
Expected<> make_directory(const InstanceOptions& options);
/// Makes a marker key if the node has none, or if `another` is true. Sets the keys of `options`.
Expected<> make_marker_key(const apps::NodeConfig& config, InstanceOptions& options, bool another);
/// The options of a node that has no database yet and will get one: the database at `flags.adopt`,
/// or a new database.
Expected<InstanceOptions> empty_place(const apps::NodeConfig& config, const Flags& flags);

}  // namespace muster::postgres
