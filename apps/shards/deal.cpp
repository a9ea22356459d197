#include "apps/shards/deal.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>

namespace muster::apps {
namespace {

Failure hook_failure(std::string what) {
  return {ExitCode::hook_failed, std::move(what)};
}

Failure too_large(const char* what, std::size_t size) {
  return hook_failure(std::string(what) + " of the shards has " + std::to_string(size) +
                      " bytes: at most " + std::to_string(shards_text_limit) +
                      " are carried; use fewer shards");
}

template <class T>
Expected<Bytes> encode(const T& value, const char* what) {
  std::string text = to_json(value);
  if (text.size() > shards_text_limit) return too_large(what, text.size());
  return Bytes{std::move(text)};
}

template <class T>
Expected<T> decode(const Bytes& bytes, const char* what) {
  if (bytes.data.size() > shards_text_limit) return too_large(what, bytes.data.size());
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = 8;
  const auto value = boost::json::parse(bytes.data, error, {}, options);
  if (error)
    return hook_failure(std::string(what) + " of the shards is not JSON: " + error.message());
  auto read = read_json<T>(value);
  if (!read) return hook_failure(std::string(what) + " of the shards: " + read.error().what);
  return read;
}

/// The last record of a shard, and the node that has it.
struct Holder {
  ShardHead head;
  NodeId node;
};

std::map<std::uint32_t, Holder> find_holders(const std::map<NodeId, ShardReport>& reports,
                                             std::uint32_t shards) {
  std::map<std::uint32_t, Holder> holders;
  for (const auto& [node, report] : reports) {
    for (const auto& [shard, head] : report.heads) {
      if (shard >= shards) continue;
      const auto [at, first] = holders.try_emplace(shard, Holder{head, node});
      if (!first && at->second.head < head) at->second = {head, node};
    }
  }
  return holders;
}

/// Hands out places: `least_` to every member, and one more to `extras_` of them.
class Places {
 public:
  Places(const std::map<NodeId, ShardReport>& members, std::uint32_t shards)
      : least_(shards / static_cast<std::uint32_t>(members.size())),
        extras_(shards % static_cast<std::uint32_t>(members.size())) {
    for (const auto& [node, report] : members) taken_[node] = 0;
  }

  /// Takes a place for that member. False if it has no place left.
  bool take(NodeId node) {
    std::uint32_t& taken = taken_.at(node);
    if (taken > least_ || (taken == least_ && extras_ == 0)) return false;
    if (taken == least_) --extras_;
    ++taken;
    return true;
  }

  /// The member with the fewest shards; if there are several, the one with the lowest id.
  [[nodiscard]] NodeId emptiest() const {
    return std::min_element(
               taken_.begin(), taken_.end(),
               [](const auto& left, const auto& right) { return left.second < right.second; })
        ->first;
  }

 private:
  std::uint32_t least_;
  std::uint32_t extras_;
  std::map<NodeId, std::uint32_t> taken_;
};

}  // namespace

ShardDefinition deal_shards(const std::map<NodeId, ShardReport>& reports, std::uint32_t shards) {
  ShardDefinition definition;
  if (reports.empty()) return definition;
  const auto holders = find_holders(reports, shards);
  Places places(reports, shards);
  std::map<std::uint32_t, NodeId> dealt;
  for (const auto& [shard, holder] : holders) {
    if (places.take(holder.node)) dealt.emplace(shard, holder.node);
  }
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    if (dealt.contains(shard)) continue;
    const NodeId node = places.emptiest();
    places.take(node);
    dealt.emplace(shard, node);
  }
  for (const auto& [shard, node] : dealt) {
    const auto held = holders.find(shard);
    definition.tasks.push_back(
        {shard, node, held == holders.end() ? 1 : held->second.head.sequence + 1});
  }
  return definition;
}

Expected<Report> encode_report(const ShardReport& report) {
  return encode(report, "the report");
}

Expected<Definition> encode_definition(const ShardDefinition& definition) {
  return encode(definition, "the definition");
}

Expected<ShardReport> decode_report(const Report& report) {
  if (report.data.empty()) return ShardReport{};
  return decode<ShardReport>(report, "the report");
}

Expected<ShardDefinition> decode_definition(const Definition& definition) {
  auto read = decode<ShardDefinition>(definition, "the definition");
  if (!read) return read;
  for (std::size_t i = 1; i < read->tasks.size(); ++i) {
    if (read->tasks[i - 1].shard >= read->tasks[i].shard) {
      return hook_failure("the definition of the shards names shard " +
                          std::to_string(read->tasks[i].shard) + " out of order");
    }
  }
  return read;
}

}  // namespace muster::apps
