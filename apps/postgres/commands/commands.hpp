#pragma once

#include "apps/base/failed.hpp"
#include "apps/hosting/node_flags.hpp"
#include "apps/hosting/run_node.hpp"
#include "apps/postgres/commands/bundle.hpp"
#include "apps/postgres/server/options.hpp"

#include <cstdint>
#include <string>

/// The words of `muster postgres`, a file each. Each returns its exit code.

namespace muster::postgres {

struct Flags {
  apps::NodeFlags node;
  std::string user;
  std::uint32_t from = 0;                   ///< 0: any other node
  std::filesystem::path bundle;             ///< in place of a configuration: that of `directory`
  std::optional<BundleFiles> bundle_files;  ///< of it, as root has read them; none: not read yet
  std::filesystem::path directory;          ///< where the bundle is put
  std::uint32_t to = 0;                     ///< who is to be primary
  std::filesystem::path adopt;              ///< a database that exists; empty: a new one is made
  bool force = false;                       ///< it is what is left of a cluster that is lost
};

struct InitFlags {
  std::string nodes;
  std::string witness;  ///< empty: none
  std::string cluster = "pg";
  std::string directory;
  std::filesystem::path authority;  ///< of a cluster that there is; empty: a new one
  unsigned generation = 1;
  std::uint16_t port = 5432;       ///< of PostgreSQL
  std::uint16_t node_port = 7100;  ///< of nodes that are named without one
};

int init(const InitFlags& flags);
/// What a word that asks can be told.
struct AskFlags {
  std::string config;
  bool json = false;
};

int check(const AskFlags& flags);
int status(const AskFlags& flags);
int create(const Flags& flags);
/// The database at `flags.adopt` becomes that of the node.
int adopt(const Flags& flags, const apps::NodeConfig& config);
int join(const Flags& flags);
int rejoin(const Flags& flags);
int run(const Flags& flags);
int switch_over(const Flags& flags);

/// The configuration that the flags name, or that of the bundle, once it is where it is to be.
Expected<apps::NodeConfig> node_of(const Flags& flags);

/// The error names the file.
Failure wrong(const apps::NodeConfig& config, const std::string& what);
/// Of a node, a witness too. The error says that [application] is another.
Expected<InstanceOptions> options_in(const apps::NodeConfig& config);
/// Of a PostgreSQL that is only asked. The error says that there is none.
Expected<InstanceOptions> options_of_running(const apps::NodeConfig& config);
/// The error says what is missing: [application], PostgreSQL, a user other than root.
Expected<InstanceOptions> options_of(const apps::NodeConfig& config);
/// The directory beside the data directory, for the user of this process alone.
Expected<> make_directory(const InstanceOptions& options);
/// Of a node that has no database yet, and is to get one: `flags.adopt`, or one that is made.
Expected<InstanceOptions> empty_place(const apps::NodeConfig& config, const Flags& flags);

}  // namespace muster::postgres
