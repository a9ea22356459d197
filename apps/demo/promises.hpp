#pragma once

#include "apps/cluster/cluster.hpp"

#include <optional>
#include <string>
#include <vector>

/// What the demo promises at its end, judged by what the resource accepted, what journals say, and
/// what is in the stores.

namespace muster::apps {

struct Promise {
  std::string what;
  std::uint64_t checked = 0;
  std::optional<std::string> broken;  ///< the first thing that did not hold
};

/// "holds", "DOES NOT HOLD" or "not checked", padded to one width.
std::string verdict_of(const Promise& promise);

/// The group number of a shard's records only grows: what was refused had to be, for its node had
/// paused, or nobody of its group was in the group that refused it.
Promise groups_only_grow(const Resource& resource, const Watch& watch);

/// No shard was worked on by two nodes at once.
Promise one_node_a_shard(const Resource& resource, const Watch& watch);

/// Every accepted record is in its node's store. To be asked when no node runs.
Promise accepted_is_stored(const Cluster& cluster);

}  // namespace muster::apps
