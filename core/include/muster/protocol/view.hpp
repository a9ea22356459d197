#pragma once

#include <muster/detail/protocol/calm.hpp>
#include <muster/detail/values/compiled_once.hpp>
#include <muster/detail/values/kinds.hpp>
#include <muster/values/types.hpp>

#include <optional>
#include <variant>

/// What everybody may see of a node.

namespace MUSTER_EXPORT muster {

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

/// Where the procedure of a node waits that runs: each is described where its protocol is, such as
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

/// Of a procedure: a variant of structs whose names are waits.
template <class... Waits>
Wait wait_of(const std::variant<Waits...>& procedure) {
  static constexpr Wait waits[] = {enumerator_named<Wait>(type_name<Waits>()).value()...};
  return waits[procedure.index()];
}

/// The view of a node's state that journals, `muster status` and assertions share.
struct View {
  Status status{};
  std::optional<NodeId> coordinator;  ///< none outside Reorganization and Normal
  std::optional<GroupNumber> group;   ///< none outside Reorganization and Normal
  std::optional<NodeId> halted_by;
  std::optional<NodeSet> up;         ///< S(i).Up on the coordinator
  std::optional<Digest> definition;  ///< the digest of S(i).d, in Normal
  Wait procedure{};
  Activity application{};
  HeldNodes held = {};
};
MUSTER_DESCRIBE(View, status, coordinator, group, halted_by, up, definition, procedure, application,
                held);

/// Of the definition of that group, which is always the same: where `before` has it, it is not
/// digested again. None where one of them is missing: in no node, but a journal may say so.
std::optional<Digest> digest_of(const std::optional<Definition>& definition,
                                const std::optional<GroupNumber>& group, const View& before);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::View);
