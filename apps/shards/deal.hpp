#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

/// The task of the shards application: which member works on which shard. Reports and definitions
/// are JSON texts, so that they can be read in a journal.

namespace muster::apps {

using muster::operator==;

/// The shards that are dealt.
inline constexpr std::uint32_t shard_count = 24;

/// The largest report and the largest definition, in bytes; more is refused, never cut.
inline constexpr std::size_t shards_text_limit = 32 * 1024;

/// The last record of a shard that a member has in its cells. The sequence comes first in their
/// order: a node that was alone has the highest group, but may have missed records.
struct ShardHead {
  GroupNumber group;
  std::uint64_t sequence{};
  friend bool operator==(const ShardHead&, const ShardHead&) = default;
  friend auto operator<=>(const ShardHead& left, const ShardHead& right) {
    return std::tie(left.sequence, left.group) <=> std::tie(right.sequence, right.group);
  }
};
MUSTER_DESCRIBE(ShardHead, group, sequence);

/// What a member holds: the last record of each shard that it has records of.
struct ShardReport {
  std::map<std::uint32_t, ShardHead> heads;
};
MUSTER_DESCRIBE(ShardReport, heads);

/// One shard of a definition.
struct ShardTask {
  std::uint32_t shard{};
  NodeId node;           ///< who works on it
  std::uint64_t next{};  ///< the sequence of its next record
};
MUSTER_DESCRIBE(ShardTask, shard, node, next);

/// The task of a group: every shard once, in ascending order.
struct ShardDefinition {
  std::vector<ShardTask> tasks;
};
MUSTER_DESCRIBE(ShardDefinition, tasks);

/// Deals `shards` shards to the members that reported: each gets as many as any other, give or take
/// one; a shard stays with the member that holds its last record where that allows it. Equal
/// reports make equal deals.
ShardDefinition deal_shards(const std::map<NodeId, ShardReport>& reports,
                            std::uint32_t shards = shard_count);

/// As text of at most `shards_text_limit` bytes.
Expected<Report> encode_report(const ShardReport& report);
Expected<Definition> encode_definition(const ShardDefinition& definition);

/// An empty text is an empty report. Fails where the bytes are no such text, or too many.
Expected<ShardReport> decode_report(const Report& report);
Expected<ShardDefinition> decode_definition(const Definition& definition);

}  // namespace muster::apps
