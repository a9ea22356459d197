#pragma once

#include "apps/postgres/adopting/existing.hpp"
#include "apps/postgres/decide/values.hpp"

/// Starts a new cluster from the data that one node of a lost cluster still holds.

namespace muster::postgres {

/// The files in which the node remembered its state, beside the data directory.
struct Remembered {
  std::optional<Note> note;  ///< set if the node was being rewound or cloned
  std::optional<Held> held;  ///< the node's holding shortly before it stopped
};
Expected<Remembered> remembered_beside(const InstanceOptions& options,
                                       const std::filesystem::path& data);

/// Lets the database of `options` recover to the end of its log, promotes it, shuts it down in
/// order, and returns its holding. Fails if recovery needs log that this node does not have.
Expected<Holding> recover_alone(const InstanceOptions& options);

/// Gives the database a new system identifier, and a new log that begins with that identifier. From
/// then on the data of the lost cluster's nodes belongs to another database. So those nodes cannot
/// follow the new cluster, even under the same names. The new cluster also ignores their data, even
/// if that data contains rows of greater groups. The database must have been shut down in order.
/// After a failure it can be called again.
Expected<> take_new_identity(const InstanceOptions& options);
/// True if take_new_identity() has begun on this database and has not finished.
bool takes_new_identity(const InstanceOptions& options);

}  // namespace muster::postgres
