#pragma once

#include "apps/cluster/watch.hpp"
#include "apps/shards/record.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::apps {

/// The resource that the shards write to. The resource checks group numbers: it refuses a record
/// whose group is smaller than the group of the shard's last record. So late writes of an old group
/// do no harm.
class Resource {
 public:
  struct Refusal {
    Record record;
    GroupNumber by;  ///< the group of the last accepted record of that shard
    Duration at{};   ///< when the record was read
  };

  /// Takes bytes from the pipe of records: complete lines, and perhaps the beginning of another
  /// one.
  void take(std::string_view bytes, Duration now);

  [[nodiscard]] const std::vector<Record>& accepted() const { return accepted_; }
  [[nodiscard]] const std::vector<Refusal>& refused() const { return refused_; }
  /// The number of lines that are no records.
  [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }
  /// The number of accepted records of that node.
  [[nodiscard]] std::uint64_t accepted_of(NodeId node) const;
  /// The last accepted record of each shard.
  [[nodiscard]] const std::map<std::uint32_t, Record>& last() const { return last_; }

 private:
  void take_line(std::string_view line, Duration now);

  std::string rest_;
  std::vector<Record> accepted_;
  std::vector<Refusal> refused_;
  std::uint64_t unreadable_ = 0;
  std::map<std::uint32_t, Record> last_;
  std::map<NodeId, std::uint64_t> counts_;
};

}  // namespace muster::apps
