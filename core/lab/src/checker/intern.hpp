#pragma once

#include <muster/values/hash.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Values that are kept once and named by a number of 32 bits. For several threads.

namespace muster::lab::explored {

/// Byte strings, each kept once, with the facts about them.
template <class Facts>
class Interner {
 public:
  Interner() : blocks_(new std::atomic<Entry*>[most_blocks]()) {}
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;
  ~Interner() {
    for (std::size_t i = 0; i < most_blocks; ++i) delete[] blocks_[i].load();
  }

  /// The number of these bytes. `facts()` is called if the bytes are new.
  template <class MakeFacts>
  std::uint32_t intern(std::string_view bytes, MakeFacts&& facts) {
    const std::uint64_t hash = digest(bytes).value;
    Shard& shard = shards_[hash % shards_.size()];
    const std::scoped_lock lock(shard.mutex);
    if (const auto known = shard.ids.find({hash, bytes}); known != shard.ids.end())
      return known->second;
    const std::uint32_t id = next_.fetch_add(1);
    Entry& entry = entry_of(id);
    entry.bytes = bytes;
    entry.facts = facts();
    shard.ids.emplace(Key{hash, entry.bytes}, id);
    memory_ += sizeof(Entry) + bytes.size() + 64;
    return id;
  }

  [[nodiscard]] std::string_view bytes(std::uint32_t id) const { return at(id).bytes; }
  [[nodiscard]] const Facts& facts(std::uint32_t id) const { return at(id).facts; }
  [[nodiscard]] std::uint32_t size() const { return next_.load(); }
  [[nodiscard]] std::uint64_t memory() const { return memory_.load(); }

 private:
  static constexpr std::size_t block = 1024;
  static constexpr std::size_t most_blocks = std::size_t{1} << 16;

  struct Entry {
    std::string bytes;
    Facts facts;
  };
  struct Key {
    std::uint64_t hash;
    std::string_view bytes;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.hash; }
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<Key, std::uint32_t, Hash> ids;
  };

  const Entry& at(std::uint32_t id) const {
    return blocks_[id / block].load(std::memory_order_acquire)[id % block];
  }
  Entry& entry_of(std::uint32_t id) {
    std::atomic<Entry*>& slot = blocks_[id / block];
    if (!slot.load(std::memory_order_acquire)) {
      const std::scoped_lock lock(growing_);
      if (!slot.load()) slot.store(new Entry[block], std::memory_order_release);
    }
    return slot.load()[id % block];
  }

  std::unique_ptr<std::atomic<Entry*>[]> blocks_;
  std::array<Shard, 64> shards_;
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<std::uint64_t> memory_ = 0;
  std::mutex growing_;
};

/// A large table with random access. The table uses the default memory resource, so that a program
/// can put it into huge pages. With small pages, a random read also waits until its page is found.
template <class T>
using Table = std::pmr::vector<T>;

/// A hash table from 64 bits to a value, for one thread. The key 0 is not used.
template <class Value>
class Memo {
 public:
  Memo() : slots_(1024) {}

  Value* find(std::uint64_t key) {
    for (std::size_t i = place(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return &slots_[i].value;
      if (slots_[i].key == 0) return nullptr;
    }
  }
  void insert(std::uint64_t key, Value value) {
    if (++size_ * 4 > slots_.size() * 3) grow();
    put(key, std::move(value));
  }
  [[nodiscard]] std::uint64_t memory() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
  };
  std::size_t place(std::uint64_t key) const {
    key *= 0x9E3779B97F4A7C15;
    return (key ^ key >> 32) & (slots_.size() - 1);
  }
  void put(std::uint64_t key, Value value) {
    std::size_t i = place(key);
    while (slots_[i].key != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {key, std::move(value)};
  }
  void grow() {
    Table<Slot> old(slots_.size() * 2, slots_.get_allocator());
    old.swap(slots_);
    for (Slot& slot : old)
      if (slot.key != 0) put(slot.key, std::move(slot.value));
  }
  Table<Slot> slots_;
  std::size_t size_ = 0;
};

/// A set of fingerprints of 64 bits, for one thread. 0 is no fingerprint.
class Fingerprints {
 public:
  Fingerprints() : slots_(1024) {}
  /// Returns false if the fingerprint was in the set already.
  bool insert(std::uint64_t fingerprint) {
    if (++size_ * 4 > slots_.size() * 3) grow();
    if (put(fingerprint)) return true;
    --size_;
    return false;
  }
  [[nodiscard]] bool contains(std::uint64_t fingerprint) const {
    std::size_t i = place(fingerprint);
    while (slots_[i] != 0 && slots_[i] != fingerprint) i = (i + 1) & (slots_.size() - 1);
    return slots_[i] != 0;
  }
  /// Prefetches the memory that `insert` needs.
  void expect(std::uint64_t fingerprint) const { __builtin_prefetch(&slots_[place(fingerprint)]); }
  [[nodiscard]] std::uint64_t memory() const { return slots_.size() * sizeof slots_[0]; }

 private:
  [[nodiscard]] std::size_t place(std::uint64_t fingerprint) const {
    return (fingerprint ^ fingerprint >> 29) & (slots_.size() - 1);
  }
  bool put(std::uint64_t fingerprint) {
    std::size_t i = place(fingerprint);
    for (; slots_[i] != 0; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i] == fingerprint) return false;
    slots_[i] = fingerprint;
    return true;
  }
  void grow() {
    Table<std::uint64_t> old(slots_.size() * 2, slots_.get_allocator());
    old.swap(slots_);
    for (const std::uint64_t fingerprint : old)
      if (fingerprint != 0) put(fingerprint);
  }
  Table<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

}  // namespace muster::lab::explored
