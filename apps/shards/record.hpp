#pragma once

#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// One record of the shards application: its cell in safe storage, and the line that acknowledges
/// it.

namespace muster::apps {

/// One piece of work, done once: no two records are equal.
struct Record {
  std::uint32_t shard{};
  GroupNumber group;  ///< the group that its worker worked for
  std::uint64_t sequence{};
  NodeId node;  ///< who did it
  friend auto operator<=>(const Record&, const Record&) = default;
};
MUSTER_DESCRIBE(Record, shard, group, sequence, node);

/// The beginnings of the keys of the cells: all records, and the last record of each shard.
inline constexpr std::string_view record_prefix = "record/";
inline constexpr std::string_view head_prefix = "head/";

/// The key of a record's cell. It says everything but the node, whose store it is; keys are in the
/// order of shard, group, sequence.
std::string record_key(const Record& record);

/// The record of that key in the store of `node`; none where it is no key of a record.
std::optional<Record> parse_record_key(std::string_view key, NodeId node);

/// The key of the cell that holds the last record of a shard.
std::string head_key(std::uint32_t shard);

/// The shard of that key; none where it is no such key.
std::optional<std::uint32_t> parse_head_key(std::string_view key);

/// The line that acknowledges a record, with its end:
/// {"record":{"shard":7,"group":[12,5],"sequence":118,"node":3}}
std::string record_line(const Record& record);

/// The record of such a line, with or without its end; none where it is anything else.
std::optional<Record> parse_record_line(std::string_view line);

}  // namespace muster::apps
