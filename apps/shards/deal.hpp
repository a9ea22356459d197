#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

/// The definition of the shards application: the member that works on each shard. Reports and
/// definitions are JSON, so they are readable in a journal.

namespace muster::apps {

using muster::operator==;

/// The number of shards.
inline constexpr std::uint32_t shard_count = 24;

/// The most bytes of a report, and of a definition. Longer ones are refused, never cut.
inline constexpr std::size_t shards_text_limit = 32 * 1024;

/// The last record of a shard in a member's cells.
///
/// The sequence is compared before the group, because the group says nothing about how much a node
/// has seen. A node that was alone has the highest group, but may have missed records.
struct ShardHead {
  GroupNumber group;
  std::uint64_t sequence{};
  friend bool operator==(const ShardHead&, const ShardHead&) = default;
  friend auto operator<=>(const ShardHead& left, const ShardHead& right) {
    return std::tie(left.sequence, left.group) <=> std::tie(right.sequence, right.group);
  }
};
MUSTER_DESCRIBE(ShardHead, group, sequence);

/// A member's report: its last record of each shard.
struct ShardReport {
  std::map<std::uint32_t, ShardHead> heads;
};
MUSTER_DESCRIBE(ShardReport, heads);

/// One shard of a definition.
struct ShardTask {
  std::uint32_t shard{};
  NodeId node;           ///< the member that works on it
  std::uint64_t next{};  ///< the sequence of its next record
};
MUSTER_DESCRIBE(ShardTask, shard, node, next);

/// The definition of a group: every shard once, in ascending order.
struct ShardDefinition {
  std::vector<ShardTask> tasks;
};
MUSTER_DESCRIBE(ShardDefinition, tasks);

/// Deals `shards` shards to the members that reported. Any two members have numbers of shards that
/// differ by one at most. Within that, a shard stays with the member that has its last record.
/// Equal reports give equal deals.
ShardDefinition deal_shards(const std::map<NodeId, ShardReport>& reports,
                            std::uint32_t shards = shard_count);

/// Encode as JSON. Both fail if the text is longer than `shards_text_limit` bytes.
Expected<Report> encode_report(const ShardReport& report);
Expected<Definition> encode_definition(const ShardDefinition& definition);

/// Decode JSON. Empty bytes are an empty report. Fail if the bytes are too many, or no such JSON.
Expected<ShardReport> decode_report(const Report& report);
Expected<ShardDefinition> decode_definition(const Definition& definition);

}  // namespace muster::apps
