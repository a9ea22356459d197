#pragma once

#include <muster/application.hpp>

#include "apps/shards/deal.hpp"

/// The shards application. The coordinator deals 24 shards to the members. Each member works on its
/// shards: it appends records to its own cells and acknowledges each record once it is durable.

namespace muster::apps {

struct ShardsOptions {
  unsigned records_per_second = 20;  ///< of a node, on all its shards together
  /// The descriptor of a pipe; -1: none. Each durable record is acknowledged by one write(2) to
  /// this pipe, while the application has a permit. Must not block. If the write fails, the record
  /// is durable but not acknowledged.
  int acknowledge_to = -1;
  std::uint32_t shards = shard_count;
};

/// Makes the application of one life.
MakeApplication make_shards(const ShardsOptions& options);

}  // namespace muster::apps
