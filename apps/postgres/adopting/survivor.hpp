#pragma once

#include "apps/postgres/adopting/existing.hpp"
#include "apps/postgres/decide/values.hpp"

/// What one node of a cluster that is lost still holds becomes the beginning of a new one.

namespace muster::postgres {

/// What the node that kept that data directory remembers beside it.
struct Remembered {
  std::optional<Note> note;  ///< it was being mended
  std::optional<Held> held;  ///< a moment before its end
};
Expected<Remembered> remembered_beside(const InstanceOptions& options,
                                       const std::filesystem::path& data);

/// Lets the database of `options` recover to the end of its log, has it promoted, shuts it down in
/// order, and gives what it held at that end. Fails where it waits for log that it does not have.
Expected<Holding> recover_alone(const InstanceOptions& options);

/// Another system identifier, and a log that begins with it: what the lost cluster's nodes have
/// is of another database from then on. They cannot follow it, though they be called the same, nor
/// does their data count beside its own, though their rows are of greater groups. It was shut down
/// in order. May be done again where it failed.
Expected<> take_new_identity(const InstanceOptions& options);
/// It was begun, and did not end.
bool takes_new_identity(const InstanceOptions& options);

}  // namespace muster::postgres
