#pragma once

#include <muster/claims/cuts.hpp>
#include <muster/protocol/timings.hpp>

#include <functional>
#include <map>

/// The assertion left-behind: a node that its group has gone on without is soon at work no more.
/// Unlike works-apart it is claimed while links are cut.

namespace MUSTER_EXPORT muster {

/// How long a node may still be at work.
struct LeftBehindBounds {
  Duration told;       ///< a member, since its coordinator left the group; its answers arrive
  Duration unheard;    ///< the same, if they do not arrive
  Duration outranked;  ///< a coordinator, since a higher node that it hears works in another group
};
LeftBehindBounds left_behind_bounds(const Timings& timings);

/// The nodes of a cluster that were left behind, and since when.
class LeftBehind {
 public:
  using TimingsOf = std::function<Timings(NodeId)>;

  /// From `now` on the nodes stand so, and no letter passes between the nodes of `unheard`.
  void see(Duration now, Standings nodes, const Cuts& unheard, const TimingsOf& timings_of);

  /// Nothing is known any more: each bound begins again with the next `see`.
  void forget() { behind_.clear(); }
  /// The same of that node.
  void forget(NodeId node) { behind_.erase(node); }

  /// A node that is at work at `now` though its bound is over.
  [[nodiscard]] std::optional<Disagreement> overdue(Duration now) const;

 private:
  struct Behind {
    Duration since{};
    GroupNumber group;  ///< that it works for
    NodeId other;       ///< the coordinator that left it, or the higher node
    bool unheard = false;
    bool others_unheard = false;  ///< one of the other higher nodes
    Duration bound{};
  };
  /// What has gone on without that node; none: nothing.
  static std::optional<Behind> behind(const Standing& node, Standings nodes, const Cuts& unheard);

  std::map<NodeId, Behind> behind_;
};

}  // namespace muster
