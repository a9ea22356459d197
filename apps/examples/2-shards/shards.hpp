#pragma once

#include <muster/typed.hpp>

namespace muster::examples {

/// A record of one shard. No two records of a shard are equal.
///
/// The number is compared before the group, because the group says nothing about how much a node
/// has seen. A node that was alone for a while has the highest group, but may have missed records.
struct Record {
  std::uint64_t number{};
  GroupNumber group;  ///< the group that wrote the record
  friend auto operator<=>(const Record&, const Record&) = default;
};
MUSTER_DESCRIBE(Record, number, group);

/// The node that works on a shard, and the number of that shard's next record.
struct Share {
  NodeId node;
  std::uint64_t next{};
};
MUSTER_DESCRIBE(Share, node, next);

using Held = std::map<std::uint32_t, Record>;  ///< a member's report: its last record of each shard
using Deal = std::map<std::uint32_t, Share>;   ///< the definition: the share of each shard

/// The coordinator deals 12 shards to the members. Any two members have numbers of shards that
/// differ by one at most. Each member appends numbered records to its shards, in its own safe
/// storage.
///
/// Typed hooks: `cease` is stop, `define` is reorganize, `install` is start. They take and give
/// values (Held, Deal) instead of bytes.
class Shards final : public Typed<Held, Deal> {
 public:
  /// Called for each record once it is durable.
  using Told = std::function<void(NodeId, std::uint32_t shard, const Record&)>;
  Shards(Services& node, Told told) : node_(node), told_(std::move(told)) {}
  static constexpr std::uint32_t count = 12;

  // A node stops before a new group is formed. It reports the last record that it has of each
  // shard.
  void cease(StopContext, Done<Held> done) override {
    mine_.clear();
    const auto kept = std::make_shared<Done<Held>>(std::move(done));
    // Safe storage works in order, so the scan sees a write that is still under way.
    node_.scan(prefix, [this, kept](const auto& cells) {
      for (const auto& [key, bytes] : cells)
        held_[std::uint32_t(std::stoul(key.substr(prefix.size())))] =
            decode<Record>(bytes.data).value();
      (*kept)(held_);
    });
  }

  // Runs on the coordinator, with the reports of all members. A shard stays with the member that
  // has its last record, as long as that member has a place left.
  void define(Reorganization, std::map<NodeId, Held> reports, Done<Deal> done) override {
    std::map<NodeId, std::size_t> places;
    std::size_t rank = 0;
    for (const auto& [member, held] : reports) places[member] = (count + rank++) / reports.size();
    const auto take = [&](NodeId member) { return places[member] > 0 && places[member]-- > 0; };
    Deal deal;
    for (std::uint32_t shard = 0; shard < count; ++shard) {
      NodeId holder;
      Record last;
      for (auto& [member, held] : reports)
        if (held[shard] > last) holder = member, last = held[shard];
      deal[shard] = {take(holder) ? holder : NodeId{}, last.number + 1};
    }
    for (auto& [shard, share] : deal)
      for (const auto& [member, held] : reports)
        if (share.node == NodeId{} && take(member)) share.node = member;
    done(std::move(deal));
  }

  // Runs on each member with the same deal. The member picks its own shards and begins to work.
  void install(Assignment task, Deal deal, Done<> done) override {
    for (const auto& [shard, share] : deal) {
      if (share.node != node_.self()) continue;
      Record& next = mine_[shard] = {share.next, task.group};
      // A group can start a node twice. The second start goes on after the records of the first.
      if (held_[shard] >= next) next.number = held_[shard].number + 1;
    }
    turn_ = mine_.begin();
    done();
    work(task.group);
  }

 private:
  // Writes one record of each shard in turn. A permit says that the node still works for this
  // group. As long as the application has a permit, the node has not ceased and joins no other
  // group.
  void work(const GroupNumber& group) {
    node_.post_after(std::chrono::milliseconds(2), [this, group] {
      auto permit = node_.permits().try_acquire("a record");
      if (!permit || permit->group() != group || mine_.empty()) return;  // it has ceased
      append(std::make_shared<Permit>(std::move(*permit)));
    });
  }

  void append(const std::shared_ptr<Permit>& permit) {
    const auto [shard, record] = *turn_;
    ++turn_->second.number;
    if (++turn_ == mine_.end()) turn_ = mine_.begin();
    node_.write({prefix + std::to_string(shard), {encode(record)}}, [=, this] {
      told_(node_.self(), shard, record);
      work(permit->group());
    });
  }

  inline static const std::string prefix = "shard/";
  Services& node_;
  Told told_;
  Held held_, mine_;  ///< the last records in its storage; the next records of its own shards
  Held::iterator turn_;
};

}  // namespace muster::examples
