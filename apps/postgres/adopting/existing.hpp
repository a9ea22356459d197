#pragma once

#include "apps/postgres/server/debian.hpp"
#include "apps/postgres/server/options.hpp"

#include <muster/values/failure.hpp>

/// A database that exists, as its owner names it, and whether it can become a node's.

namespace muster::postgres {

struct Whereabouts {
  std::filesystem::path data;
  std::filesystem::path settings;  ///< its postgresql.conf
  std::optional<DebiansCluster> debians;
};

/// Where its parts are: `named` is its data directory, or that of a postgresql.conf that says where
/// the data is, as for `postgres -D`. The settings of a data directory are those of the cluster of
/// Debian's below `clusters` whose data it is, or in it.
Expected<Whereabouts> whereabouts_of(const std::filesystem::path& named,
                                     const std::filesystem::path& clusters = "/etc/postgresql");

/// The error says who has that data directory, if it is not this process's user.
Expected<> look_at_owner(const std::filesystem::path& data);

struct Existing {
  Whereabouts place;
  std::uint64_t segment_bytes{};
  bool checksums{};
  std::string locales;  ///< of its databases: "C, de_DE.UTF-8"
};

/// Looks into a database that nothing runs, and that is to become that of the node of `options`.
/// The failure says why it cannot, and the cure; nothing was changed.
Expected<Existing> look_at(const Whereabouts& place, const InstanceOptions& options);

/// The same of one that a node had in a cluster that is lost: it may be a standby's, and need not
/// have been shut down in order.
Expected<Existing> look_at_survivor(const Whereabouts& place, const InstanceOptions& options);

/// How one is made that was looked at before: without its locales, which tell only then.
Expected<Existing> look_again(const Whereabouts& place, const InstanceOptions& options);

/// Whether muster has kept it.
bool is_kept(const Whereabouts& place);

/// Does not come along: what muster says itself, or what would be for another place or a recovery.
bool is_left_out(const InstanceOptions& options, const std::string& setting);

}  // namespace muster::postgres
