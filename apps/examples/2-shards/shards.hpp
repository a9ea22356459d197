#pragma once

#include <muster/typed.hpp>

namespace muster::examples {

/// A numbered record of a shard; no two of a shard are equal. Its number comes first in their
/// order: a node that was alone has the highest group, but may have missed records.
struct Record {
  std::uint64_t number{};
  GroupNumber group;  ///< that it was written for
  friend auto operator<=>(const Record&, const Record&) = default;
};
MUSTER_DESCRIBE(Record, number, group);

/// Who works on a shard, and the number of its next record.
struct Share {
  NodeId node;
  std::uint64_t next{};
};
MUSTER_DESCRIBE(Share, node, next);

using Held = std::map<std::uint32_t, Record>;  ///< the last record of each shard
using Deal = std::map<std::uint32_t, Share>;   ///< all shards

/// The coordinator deals 12 shards over the members, each as many as any other, give or take one;
/// each member appends numbered records to its shards, in safe storage.
class Shards final : public Typed<Held, Deal> {
 public:
  /// Hears of each record when it is durable.
  using Told = std::function<void(NodeId, std::uint32_t shard, const Record&)>;
  Shards(Services& node, Told told) : node_(node), told_(std::move(told)) {}
  static constexpr std::uint32_t count = 12;

  void cease(StopContext, Done<Held> done) override {
    mine_.clear();
    const auto kept = std::make_shared<Done<Held>>(std::move(done));
    node_.scan(prefix, [this, kept](const auto& cells) {  // after the write that may be under way
      for (const auto& [key, bytes] : cells)
        held_[std::uint32_t(std::stoul(key.substr(prefix.size())))] =
            decode<Record>(bytes.data).value();
      (*kept)(held_);
    });
  }

  // A shard stays with the member that has its last record, as long as there is a place left.
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

  void install(Assignment task, Deal deal, Done<> done) override {
    for (const auto& [shard, share] : deal) {
      if (share.node != node_.self()) continue;
      Record& next = mine_[shard] = {share.next, task.group};
      if (held_[shard] >= next) next.number = held_[shard].number + 1;  // started again
    }
    turn_ = mine_.begin();
    done();
    work(task.group);
  }

 private:
  // One record of each shard in turn.
  void work(const GroupNumber& group) {
    node_.post_after(std::chrono::milliseconds(2), [this, group] {
      auto permit = node_.permits().try_acquire("a record");
      if (!permit || permit->group() != group || mine_.empty()) return;  // it is over
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
  Held held_, mine_;  ///< the last records that it has; the next ones of its own shards
  Held::iterator turn_;
};

}  // namespace muster::examples
