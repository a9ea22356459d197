#include "apps/demo/promises.hpp"

#include "apps/base/text.hpp"
#include "apps/shards/record.hpp"

#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <set>

namespace muster::apps {
namespace {

std::string name(const Record& record) {
  return "record " + std::to_string(record.sequence) + " of shard " + std::to_string(record.shard) +
         " by node " + std::to_string(record.node.value) + " for group " + to_text(record.group);
}

bool paused_before(const Watch& watch, NodeId node, Duration at) {
  const auto pauses = watch.pauses(node);
  return std::any_of(pauses.begin(), pauses.end(), [&](Duration pause) { return pause < at; });
}

/// Whether a node was a member of both groups. That node knew the later group, so a late record of
/// the earlier group is not excused. Also true if the members are not known.
bool share_a_member(const Watch& watch, const GroupNumber& left, const GroupNumber& right) {
  const auto of_left = watch.members().find(left);
  const auto of_right = watch.members().find(right);
  if (of_left == watch.members().end() || of_right == watch.members().end()) return true;
  return std::any_of(of_left->second.begin(), of_left->second.end(),
                     [&](NodeId node) { return of_right->second.contains(node); });
}

/// A time in which a node worked on a shard.
struct Stretch {
  NodeId node;
  GroupNumber group;
  Duration begin{};
  std::optional<Duration> end;
};

}  // namespace

std::string verdict_of(const Promise& promise) {
  if (promise.broken) return "DOES NOT HOLD  ";
  return promise.checked == 0 ? "not checked    " : "holds          ";
}

Promise groups_only_grow(const Resource& resource, const Watch& watch) {
  Promise promise{"the group number of a shard's records only grows",
                  resource.accepted().size() + resource.refused().size(), std::nullopt};
  for (const auto& [record, by, at] : resource.refused()) {
    if (paused_before(watch, record.node, at) || !share_a_member(watch, record.group, by)) continue;
    promise.broken = name(record) + " came after one for group " + to_text(by);
    break;
  }
  if (resource.unreadable() > 0) {
    promise.broken = std::to_string(resource.unreadable()) + " lines of the pipe were not records";
  }
  return promise;
}

Promise one_node_a_shard(const Resource& resource, const Watch& watch) {
  Promise promise{"no shard was worked on by two nodes at once", 0, std::nullopt};
  std::map<std::pair<NodeId, GroupNumber>, Stretch> worked;
  for (const Worked& work : watch.worked()) {
    worked.try_emplace({work.node, work.group},
                       Stretch{work.node, work.group, work.begin, work.end});
  }
  std::map<std::uint32_t, std::set<std::pair<NodeId, GroupNumber>>> workers;
  for (const Record& record : resource.accepted())
    workers[record.shard].emplace(record.node, record.group);
  for (const auto& [shard, who] : workers) {
    std::vector<Stretch> stretches;
    for (const auto& [node, group] : who) {
      const auto found = worked.find({node, group});
      if (found != worked.end()) {
        stretches.push_back(found->second);
      } else if (!promise.broken) {
        promise.broken = "node " + std::to_string(node.value) + " worked on shard " +
                         std::to_string(shard) + " for group " + to_text(group) +
                         " without having been started for it";
      }
    }
    std::sort(stretches.begin(), stretches.end(),
              [](const Stretch& left, const Stretch& right) { return left.begin < right.begin; });
    for (std::size_t i = 1; i < stretches.size(); ++i) {
      ++promise.checked;
      const Stretch& before = stretches[i - 1];
      const Stretch& after = stretches[i];
      if (before.node == after.node || (before.end && *before.end <= after.begin)) continue;
      if (promise.broken) continue;
      promise.broken = "shard " + std::to_string(shard) + ": node " +
                       std::to_string(after.node.value) + " began for group " +
                       to_text(after.group) + " while node " + std::to_string(before.node.value) +
                       " worked for " + to_text(before.group);
    }
  }
  return promise;
}

Promise accepted_is_stored(const Cluster& cluster) {
  Promise promise{"every accepted record is in its node's store", 0, std::nullopt};
  std::set<Record> stored;
  for (NodeId node : cluster.nodes()) {
    if (cluster.resource().accepted_of(node) == 0) continue;
    auto store =
        storage::SqliteStorage::open(cluster.data(node), {cluster.options().cluster.name, node});
    if (!store) {
      promise.broken = store.error().what;
      return promise;
    }
    const auto scanned = (*store)->scan(record_prefix, [&](std::string_view key, const Bytes&) {
      if (const auto record = parse_record_key(key, node)) stored.insert(*record);
    });
    if (!scanned) promise.broken = scanned.error().what;
  }
  for (const Record& record : cluster.resource().accepted()) {
    ++promise.checked;
    if (!stored.contains(record) && !promise.broken) promise.broken = name(record) + " is missing";
  }
  return promise;
}

}  // namespace muster::apps
