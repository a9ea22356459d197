#pragma once

#include "checked_world.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

/// The worlds that were reached, and the list of those still to be searched.

namespace muster::lab::explored {

/// A hash of a world; never 0.
inline std::uint64_t fingerprint(const CheckedWorld& world, std::size_t nodes) {
  std::uint64_t hash = 0x27D4EB2F165667C5;
  const auto add = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B185EBCA87;
    hash ^= hash >> 32;
  };
  for (std::size_t i = 0; i < nodes; ++i) add(world.node[i]);
  add(world.left);
  for (std::size_t i = 0; i < nodes * nodes; ++i) add(world.length[i]);
  for (std::size_t i = 0; i < world.items; ++i) add(world.item[i]);
  return hash == 0 ? 1 : hash;
}

/// A set of fingerprints for several threads, in shards that grow one by one.
class Visited {
 public:
  /// Returns false if the fingerprint was in the set already.
  bool insert(std::uint64_t fingerprint) {
    Shard& shard = shard_of(fingerprint);
    const std::scoped_lock lock(shard.mutex);
    return shard.fingerprints.insert(fingerprint);
  }
  [[nodiscard]] bool contains(std::uint64_t fingerprint) {
    Shard& shard = shard_of(fingerprint);
    const std::scoped_lock lock(shard.mutex);
    return shard.fingerprints.contains(fingerprint);
  }
  /// Prefetches the memory that `insert` needs.
  void expect(std::uint64_t fingerprint) {
    Shard& shard = shard_of(fingerprint);
    const std::scoped_lock lock(shard.mutex);
    shard.fingerprints.expect(fingerprint);
  }
  [[nodiscard]] std::uint64_t memory() const {
    std::uint64_t sum = 0;
    for (const Shard& shard : shards_) sum += shard.fingerprints.memory();
    return sum;
  }

 private:
  struct Shard {
    std::mutex mutex;
    Fingerprints fingerprints;
  };
  Shard& shard_of(std::uint64_t fingerprint) { return shards_[fingerprint >> 56]; }
  std::array<Shard, 256> shards_;
};

/// A list of worlds, each in as few words as it needs.
class Worlds {
 public:
  explicit Worlds(std::size_t nodes) : nodes_(nodes) {}
  void push(const CheckedWorld& world) {
    words_.insert(words_.end(), world.node.begin(), world.node.begin() + nodes_);
    words_.push_back(static_cast<std::uint32_t>(world.left));
    words_.push_back(static_cast<std::uint32_t>(world.left >> 32));
    std::uint32_t packed = 0;
    for (std::size_t i = 0; i < nodes_ * nodes_; ++i) {
      packed |= std::uint32_t{world.length[i]} << i % 8 * 4;
      if (i % 8 == 7 || i + 1 == nodes_ * nodes_) words_.push_back(std::exchange(packed, 0));
    }
    words_.insert(words_.end(), world.item.begin(), world.item.begin() + world.items);
  }
  bool next(CheckedWorld& world) {
    if (at_ == words_.size()) return false;
    for (std::size_t i = 0; i < nodes_; ++i) world.node[i] = words_[at_++];
    world.left = words_[at_++];
    world.left |= std::uint64_t{words_[at_++]} << 32;
    world.items = 0;
    for (std::size_t i = 0; i < nodes_ * nodes_; ++i) {
      world.length[i] = words_[at_ + i / 8] >> i % 8 * 4 & 15;
      world.items = static_cast<std::uint8_t>(world.items + world.length[i]);
    }
    at_ += (nodes_ * nodes_ + 7) / 8;
    for (std::size_t i = 0; i < world.items; ++i) world.item[i] = words_[at_++];
    return true;
  }
  [[nodiscard]] bool full() const { return words_.size() > std::size_t{1} << 14; }
  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] std::uint64_t memory() const { return words_.capacity() * sizeof words_[0]; }

 private:
  std::size_t nodes_;
  std::vector<std::uint32_t> words_;
  std::size_t at_ = 0;
};

}  // namespace muster::lab::explored
