#pragma once

#include <muster/values/compiled_once.hpp>
#include <muster/values/types.hpp>

#include <optional>
#include <string>

/// What everybody may see of a node.

namespace muster {

/// What the application of a node does, as the protocol sees it.
enum class Activity {
  Owing,  ///< nothing runs, but a `stop` is owed: at the beginning of a life, after a failed start
  Idle,   ///< stopped
  Starting,      ///< `start` runs
  Working,       ///< `start` has ended
  Reorganizing,  ///< `reorganize` runs
  Stopping,      ///< a hook is being cancelled, or `stop` runs
};
MUSTER_DESCRIBE_ENUM(Activity, Owing, Idle, Starting, Working, Reorganizing, Stopping)

/// The view of a node's state that journals, `muster status` and assertions share.
struct View {
  Status status{};
  std::optional<NodeId> coordinator;  ///< none outside Reorganization and Normal
  std::optional<GroupNumber> group;   ///< none outside Reorganization and Normal
  std::optional<NodeId> halted_by;
  std::optional<NodeSet> up;         ///< S(i).Up on the coordinator
  std::optional<Digest> definition;  ///< the digest of S(i).d, in Normal
  std::string procedure;             ///< the named wait, `Idle` when none of its procedures runs
  Activity application{};
};
MUSTER_DESCRIBE(View, status, coordinator, group, halted_by, up, definition, procedure,
                application);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::View);
