#pragma once

#include "apps/cluster/cluster.hpp"

#include <optional>
#include <string>
#include <vector>

/// The promises of the demo, judged at its end by the records that the resource accepted, the
/// journals and the stores.

namespace muster::apps {

struct Promise {
  std::string what;
  std::uint64_t checked = 0;
  std::optional<std::string> broken;  ///< the first violation
};

/// The verdict in words: "holds", "DOES NOT HOLD" or "not checked", padded to the same width.
std::string verdict_of(const Promise& promise);

/// The group numbers of a shard's accepted records only grow. A refused record is excused if the
/// node that wrote it had been paused. It is also excused if no node was a member of both the
/// record's group and the group because of which it was refused.
Promise groups_only_grow(const Resource& resource, const Watch& watch);

/// No shard was worked on by two nodes at the same time.
Promise one_node_a_shard(const Resource& resource, const Watch& watch);

/// Every accepted record is in its node's store. Call this when no node runs.
Promise accepted_is_stored(const Cluster& cluster);

}  // namespace muster::apps
