#pragma once

#include <muster/application.hpp>

#include "apps/shards/deal.hpp"

/// The shards application: the coordinator deals 24 shards over the members; each member works on
/// its shards by appending records durably to its own cells and acknowledging each.

namespace muster::apps {

struct ShardsOptions {
  unsigned records_per_second = 20;  ///< of one node, over all its shards
  /// Where durable records are acknowledged, one write(2) each, while a permit is held; a pipe that
  /// does not block. None: -1. A record that cannot be written there is durable, and not
  /// acknowledged.
  int acknowledge_to = -1;
  std::uint32_t shards = shard_count;
};

/// Makes the application of one life.
MakeApplication make_shards(const ShardsOptions& options);

}  // namespace muster::apps
