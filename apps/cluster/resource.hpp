#pragma once

#include "apps/cluster/watch.hpp"
#include "apps/shards/record.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::apps {

/// The resource behind the shards: it checks the group number, and so is safe from nodes of the
/// past. A record is accepted only if its shard's group did not get smaller.
class Resource {
 public:
  struct Refusal {
    Record record;
    GroupNumber by;  ///< the group of the record accepted last for that shard
    Duration at{};   ///< when it was read
  };

  /// What was read from the pipe of the records: whole lines, and perhaps the beginning of one.
  void take(std::string_view bytes, Duration now);

  [[nodiscard]] const std::vector<Record>& accepted() const { return accepted_; }
  [[nodiscard]] const std::vector<Refusal>& refused() const { return refused_; }
  /// Lines that are no records.
  [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }
  /// How many records of that node were accepted.
  [[nodiscard]] std::uint64_t accepted_of(NodeId node) const;
  /// Who worked on each shard last.
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
