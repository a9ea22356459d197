#pragma once

#include <muster/detail/protocol/calm.hpp>
#include <muster/detail/values/compiled_once.hpp>
#include <muster/detail/values/kinds.hpp>
#include <muster/values/types.hpp>

#include <optional>
#include <variant>

/// The part of a node's state that everybody may see.

namespace MUSTER_EXPORT muster {

/// The state of a node's application, as the protocol sees it.
enum class Activity {
  Owing,  ///< no hook runs, but a `stop` must follow: a life has just begun, or a start has failed
  Idle,   ///< stopped
  Starting,      ///< `start` runs
  Working,       ///< `start` has succeeded
  Reorganizing,  ///< `reorganize` runs
  Stopping,      ///< a hook is being cancelled, or `stop` runs
};
MUSTER_DESCRIBE_ENUM(Activity, Owing, Idle, Starting, Working, Reorganizing, Stopping)

/// The wait of the procedure that runs. Each protocol describes its own waits, such as
/// bully::SeekingHigher.
enum class Wait {
  Idle,  ///< none of its procedures runs
  SeekingHigher,
  Ceasing,
  HaltingLower,
  HaltingAll,
  Announcing,
  Reorganizing,
  MakingReady,
  Checking,
  Probing,
  BackingOff,
  AwaitingMajority,
  Settling,
  GivingWay,
  Inviting,
  Forwarding,
  Accepting,
  Asking,
  AwaitingCoordinator,
  Installing,
  Outvoted,
  Rejoining,
  AskingFree,
};
MUSTER_DESCRIBE_ENUM(Wait, Idle, SeekingHigher, Ceasing, HaltingLower, HaltingAll, Announcing,
                     Reorganizing, MakingReady, Checking, Probing, BackingOff, AwaitingMajority,
                     Settling, GivingWay, Inviting, Forwarding, Accepting, Asking,
                     AwaitingCoordinator, Installing, Outvoted, Rejoining, AskingFree)

/// The wait of a procedure, which is a variant of structs with the names of waits.
template <class... Waits>
Wait wait_of(const std::variant<Waits...>& procedure) {
  static constexpr Wait waits[] = {enumerator_named<Wait>(type_name<Waits>()).value()...};
  return waits[procedure.index()];
}

/// The view of a node's state that journals, `muster status` and the assertions share.
struct View {
  Status status{};
  std::optional<NodeId> coordinator;  ///< only in Reorganization and Normal
  std::optional<GroupNumber> group;   ///< only in Reorganization and Normal
  std::optional<NodeId> halted_by;
  std::optional<NodeSet> up;         ///< S(i).Up, on the coordinator only
  std::optional<Digest> definition;  ///< the digest of S(i).d, in Normal
  Wait procedure{};
  Activity application{};
  HeldNodes held = {};  ///< nodes that the coordinator keeps out of the group
};
MUSTER_DESCRIBE(View, status, coordinator, group, halted_by, up, definition, procedure, application,
                held);

/// The digest of a group's definition. The definition of a group never changes, so the digest is
/// taken from `before` if that view is of the same group. None if the definition or the group is
/// missing, which is only possible in a damaged journal.
std::optional<Digest> digest_of(const std::optional<Definition>& definition,
                                const std::optional<GroupNumber>& group, const View& before);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::View);
