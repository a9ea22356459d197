#pragma once

#include "apps/postgres/server/debian.hpp"
#include "apps/postgres/server/options.hpp"

#include <muster/values/failure.hpp>

/// Finds an existing database that a user names, and checks if it can become a node's database.

namespace muster::postgres {

struct Whereabouts {
  std::filesystem::path data;
  std::filesystem::path settings;  ///< the path of its postgresql.conf
  std::optional<DebiansCluster> debians;
};

/// Finds the parts of a database. `named` is its data directory, or the directory of a
/// postgresql.conf that names the data directory, as for `postgres -D`. If a Debian cluster below
/// `clusters` has this data directory, the settings are in the directory of that cluster. Otherwise
/// they are in the data directory.
Expected<Whereabouts> whereabouts_of(const std::filesystem::path& named,
                                     const std::filesystem::path& clusters = "/etc/postgresql");

/// Returns an error that names the owner, if the data directory does not belong to the user of this
/// process.
Expected<> look_at_owner(const std::filesystem::path& data);

struct Existing {
  Whereabouts place;
  std::uint64_t segment_bytes{};
  bool checksums{};
  std::string locales;  ///< the locales of its databases, such as "C, de_DE.UTF-8"
};

/// Examines a stopped database that should become the database of the node of `options`. The error
/// says why the database cannot become that, and names the cure. Changes nothing.
Expected<Existing> look_at(const Whereabouts& place, const InstanceOptions& options);

/// Does as look_at() for a database that a node had in a lost cluster. Such a database can be that
/// of a standby, and can have ended without an orderly shutdown.
Expected<Existing> look_at_survivor(const Whereabouts& place, const InstanceOptions& options);

/// Does as look_at() for a database that was examined before. Leaves out the locales, which are
/// reported only the first time.
Expected<Existing> look_again(const Whereabouts& place, const InstanceOptions& options);

/// True if Muster has managed this database.
bool is_kept(const Whereabouts& place);

/// True for a setting that is not taken over: Muster sets it itself, it names a file location, or
/// it belongs to a recovery.
bool is_left_out(const InstanceOptions& options, const std::string& setting);

}  // namespace muster::postgres
