#pragma once

#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// A record of the shards application: its cell in safe storage, and the line that acknowledges it.

namespace muster::apps {

/// One piece of work, done once. No two records are equal.
struct Record {
  std::uint32_t shard{};
  GroupNumber group;  ///< the group that the node worked for
  std::uint64_t sequence{};
  NodeId node;  ///< the node that did the work
  friend auto operator<=>(const Record&, const Record&) = default;
};
MUSTER_DESCRIBE(Record, shard, group, sequence, node);

/// The beginnings of the cells' keys: of all records, and of the last record of each shard.
inline constexpr std::string_view record_prefix = "record/";
inline constexpr std::string_view head_prefix = "head/";

/// The key of a record's cell. It has all of the record except the node, which is the owner of the
/// store. The order of keys is by shard, group and sequence.
std::string record_key(const Record& record);

/// The record with that key in the store of `node`. None if the key is not that of a record.
std::optional<Record> parse_record_key(std::string_view key, NodeId node);

/// The key of the cell with the last record of a shard.
std::string head_key(std::uint32_t shard);

/// The shard of such a key. None if the key is another one.
std::optional<std::uint32_t> parse_head_key(std::string_view key);

/// The line that acknowledges a record, with its line end:
/// {"record":{"shard":7,"group":[12,5],"sequence":118,"node":3}}
std::string record_line(const Record& record);

/// The record in a line that acknowledges one. The line may have its line end. None if the line has
/// another form.
std::optional<Record> parse_record_line(std::string_view line);

}  // namespace muster::apps
