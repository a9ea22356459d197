#pragma once

#include "apps/base/failed.hpp"
#include "apps/muster/commands/run_node.hpp"
#include "apps/postgres/options.hpp"

#include <cstdint>
#include <string>

/// The words of `muster postgres`, a file each. Each returns its exit code.

namespace muster::postgres {

struct Flags {
  apps::NodeFlags node;
  std::string user;
  std::uint32_t from = 0;  ///< 0: any other node
};

int create(const Flags& flags);
int join(const Flags& flags);
int run(const Flags& flags);

/// The error names the file.
Failure wrong(const apps::NodeConfig& config, const std::string& what);
/// The error says what is missing: [application], a user, PostgreSQL.
Expected<InstanceOptions> options_of(const apps::NodeConfig& config, const Flags& flags);
/// The directory beside the data directory, for the user who runs PostgreSQL alone.
Expected<> make_directory(const InstanceOptions& options);
/// Of a node that has no database yet, and is to get one.
Expected<InstanceOptions> empty_place(const apps::NodeConfig& config, const Flags& flags);

}  // namespace muster::postgres
