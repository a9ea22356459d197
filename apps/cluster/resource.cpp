#include "apps/cluster/resource.hpp"

namespace muster::apps {

void Resource::take(std::string_view bytes, Duration now) {
  rest_ += bytes;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    take_line(std::string_view(rest_).substr(begin, end - begin), now);
  }
  rest_.erase(0, begin);
}

void Resource::take_line(std::string_view line, Duration now) {
  const auto record = parse_record_line(line);
  if (!record) {
    ++unreadable_;
    return;
  }
  const auto last = last_.find(record->shard);
  if (last != last_.end() && record->group < last->second.group) {
    refused_.push_back({*record, last->second.group, now});
    return;
  }
  last_.insert_or_assign(record->shard, *record);
  accepted_.push_back(*record);
  ++counts_[record->node];
}

std::uint64_t Resource::accepted_of(NodeId node) const {
  const auto at = counts_.find(node);
  return at == counts_.end() ? 0 : at->second;
}

}  // namespace muster::apps
