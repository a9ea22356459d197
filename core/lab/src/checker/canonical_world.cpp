#include "checked_world.hpp"

#include <muster/values/archive.hpp>

#include <algorithm>

namespace muster::lab::explored {

namespace {

/// Gaps between group counters that are wider than this are shortened to it. This gap leaves room
/// for a number in between, and for a limit that lies ahead.
constexpr std::uint64_t widest_gap = 2;

Number renamed(const Renaming& renaming, Number number) {
  const auto at = std::lower_bound(renaming.begin(), renaming.end(), number,
                                   [](const auto& pair, Number n) { return pair.first < n; });
  return at->second;
}

// Renames each number to its rank. Protocols ask only for the order and the equality of numbers,
// and the next number is above all others. So ranks keep the order of numbers, and worlds that
// differ only in the size of numbers become one. The number from which a node counts is the rank of
// its highest number that is left.
class Ranks {
 public:
  Ranks(Renaming& renaming, bool counters_stay)
      : renaming_(renaming), counters_stay_(counters_stay) {
    renaming_.clear();
  }

  void of(const Numbers& all) {
    for (const Number number : all) {
      const bool first = counted_with(number) != kind_;
      kind_ = counted_with(number);
      const std::uint64_t gap = first ? 0 : value_of(number) - value_of(before_);
      const Number to = rank(number, first, gap);
      last_ = value_of(to);
      before_ = number;
      renaming_.emplace_back(number, to);
    }
  }

 private:
  [[nodiscard]] Number rank(Number number, bool first, std::uint64_t gap) const {
    const std::uint64_t next = first ? 1 : last_ + 1;
    const NodeId node{static_cast<std::uint32_t>(number >> 52 & 0xFF)};
    switch (count_of(number)) {
      case Count::life:
      case Count::group:
        return kind_ | next;
      case Count::election:
        return with_life(number, node, next);
      case Count::last_election:
        return with_life(number, node, highest(Count::election, node, life_of(number)));
      case Count::call:  // 0: no node waits for it
        return kind_ | (value_of(number) == 0 ? 0 : next);
      case Count::last_call:
        return kind_ | highest(Count::call, node);
      case Count::counter:
        if (counters_stay_) return number;
        return kind_ | (first ? 0 : last_ + std::min(gap, widest_gap));
      case Count::own:
        return kind_ | highest(Count::group, node);
    }
    return number;
  }
  [[nodiscard]] Number with_life(Number number, NodeId node, std::uint64_t value) const {
    const Number life =
        life_of(number) == 0
            ? 0
            : value_of(renamed(renaming_, number_of(Count::life, node, 0, life_of(number))));
    return number_of(count_of(number), node, life, value);
  }
  // The rank of the highest number of that kind; 0 if there is none.
  [[nodiscard]] std::uint64_t highest(Count count, NodeId node, std::uint64_t life = 0) const {
    const Number kind = number_of(count, node, life, 0);
    const auto its = std::find_if(renaming_.rbegin(), renaming_.rend(), [&](const auto& pair) {
      return counted_with(pair.first) == kind;
    });
    return its == renaming_.rend() ? 0 : value_of(its->second);
  }

  Renaming& renaming_;
  bool counters_stay_;
  Number kind_ = 0, before_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace

void Canonical::compute(const std::uint32_t* before, std::uint32_t* after, std::size_t objects) {
  numbers_.clear();
  for (std::size_t i = 0; i < objects; ++i) {
    const Numbers& its = values_.numbers(before[i]);
    merged_.clear();
    std::set_union(numbers_.begin(), numbers_.end(), its.begin(), its.end(),
                   std::back_inserter(merged_));
    numbers_.swap(merged_);
  }
  Ranks(renaming_, values_.counters_restart).of(numbers_);
  for (std::size_t i = 0; i < objects; ++i) {
    const Numbers& its = values_.numbers(before[i]);
    numbers_.clear();
    auto at = renaming_.begin();
    for (const Number number : its) {
      while (at->first != number) ++at;
      numbers_.push_back(at->second);
    }
    after[i] = numbers_ == its ? before[i] : values_.numbers(numbers_);
  }
}

template <class Read, class Write>
std::uint32_t Canonical::renamed_value(Memo<std::uint32_t>& memo, std::uint32_t id,
                                       std::uint32_t before, std::uint32_t numbers,
                                       const Read& read, const Write& write) {
  if (before == numbers) return id;
  const std::uint64_t key = (std::uint64_t{id} << 32 | numbers) + 1;
  if (const auto* known = memo.find(key)) return *known;
  auto value = read(id);
  Renaming renaming;
  const Numbers& from = values_.numbers(before);
  const Numbers& to = values_.numbers(numbers);
  for (std::size_t i = 0; i < from.size(); ++i) renaming.emplace_back(from[i], to[i]);
  visit_numbers(values_.bounds.counters, value, [&](Number number, std::uint64_t& where) {
    where = value_of(renamed(renaming, number));
  });
  const std::uint32_t renamed = write(value);
  memo.insert(key, renamed);
  return renamed;
}

std::uint32_t Canonical::renamed_local(std::uint32_t id, std::uint32_t numbers) {
  return renamed_value(
      locals_, id, values_.locals.facts(id).numbers, numbers,
      [this](std::uint32_t known) { return values_.local(known); },
      [this](Local& local) { return values_.local(local); });
}

std::uint32_t Canonical::renamed_item(std::uint32_t id, std::uint32_t numbers) {
  return renamed_value(
      items_, id, values_.items.facts(id).numbers, numbers,
      [this](std::uint32_t known) { return values_.item(known); },
      [this](Item& item) { return values_.item(item); });
}

template <class NumbersOf>
std::uint64_t Canonical::key_of(const CheckedWorld& world, std::size_t nodes,
                                const NumbersOf& numbers_of) const {
  std::uint64_t key = 0x9E3779B97F4A7C15;
  const auto add = [&](std::size_t i, std::uint32_t numbers) {
    numbers_of(i, numbers);
    key = (key ^ numbers) * 0xC2B2AE3D27D4EB4F;
    key ^= key >> 29;
  };
  for (std::size_t i = 0; i < nodes; ++i) add(i, values_.locals.facts(world.node[i]).numbers);
  for (std::size_t i = 0; i < world.items; ++i)
    add(nodes + i, values_.items.facts(world.item[i]).numbers);
  return key;
}

void Canonical::expect(const CheckedWorld& world, std::size_t nodes) const {
  const std::uint64_t key = key_of(world, nodes, [](std::size_t, std::uint32_t) {});
  __builtin_prefetch(&cache_[key & (cache_.size() - 1)]);
}

void Canonical::operator()(CheckedWorld& world, std::size_t nodes) {
  std::array<std::uint32_t, most_nodes + most_items> before;
  std::array<std::uint32_t, most_nodes + most_items> after;
  const std::size_t objects = nodes + world.items;
  const std::uint64_t key =
      key_of(world, nodes, [&](std::size_t i, std::uint32_t numbers) { before[i] = numbers; });
  Cached& entry = cache_[key & (cache_.size() - 1)];
  const std::uint32_t* to = after.data();
  if (entry.key == key && objects <= entry.numbers.size()) {
    to = entry.numbers.data();
  } else {
    compute(before.data(), after.data(), objects);
    if (objects <= entry.numbers.size()) {
      entry.key = key;
      std::copy_n(after.begin(), objects, entry.numbers.begin());
    }
  }
  for (std::size_t i = 0; i < nodes; ++i) world.node[i] = renamed_local(world.node[i], to[i]);
  for (std::size_t i = 0; i < world.items; ++i)
    world.item[i] = renamed_item(world.item[i], to[nodes + i]);
}

}  // namespace muster::lab::explored
