#pragma once

#include <muster/claims/cuts.hpp>
#include <muster/protocol/timings.hpp>

#include <functional>
#include <map>

/// The assertion left-behind: after its group has continued without it, a node soon stops its work.
/// Unlike works-apart, this assertion is also claimed while links are cut.

namespace MUSTER_EXPORT muster {

/// How long a node that was left behind may still work.
struct LeftBehindBounds {
  Duration
      told;  ///< a member whose coordinator left the group, if the coordinator's answers arrive
  Duration unheard;  ///< a member whose coordinator left the group, if the coordinator's answers do
                     ///< not arrive
  Duration outranked;  ///< a coordinator that hears a higher node which works in another group
};
LeftBehindBounds left_behind_bounds(const Timings& timings);

/// The nodes of a cluster that were left behind, each with the time at which that happened.
class LeftBehind {
 public:
  using TimingsOf = std::function<Timings(NodeId)>;

  /// Records the states of the nodes from `now` on. No letter passes between the two nodes of a
  /// pair in `unheard`.
  void see(Duration now, Standings nodes, const Cuts& unheard, const TimingsOf& timings_of);

  /// Forgets all nodes: each bound starts again with the next `see`.
  void forget() { behind_.clear(); }
  /// The same for one node.
  void forget(NodeId node) { behind_.erase(node); }

  /// A node that still works at `now` although its bound has passed.
  [[nodiscard]] std::optional<Disagreement> overdue(Duration now) const;

 private:
  struct Behind {
    Duration since{};
    GroupNumber group;  ///< the group that the node works for
    NodeId other;       ///< the coordinator that left it, or the higher node
    bool unheard = false;
    bool others_unheard = false;  ///< the node does not hear one of the other higher nodes
    Duration bound{};
  };
  /// The node or group that has left that node behind; none if nothing has.
  static std::optional<Behind> behind(const Standing& node, Standings nodes, const Cuts& unheard);

  std::map<NodeId, Behind> behind_;
};

}  // namespace muster
