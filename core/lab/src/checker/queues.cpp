#include "checked_world.hpp"

#include <algorithm>
#include <span>

/// Items on their way between two nodes, and those of them that have no effect any more.

namespace muster::lab::explored {

std::size_t Mover::begin_of(const CheckedWorld& world, std::size_t queue) const {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < queue; ++i) begin += world.length[i];
  return begin;
}

void Mover::erase(CheckedWorld& world, std::size_t queue, std::size_t position) {
  const std::size_t at = begin_of(world, queue) + position;
  std::memmove(&world.item[at], &world.item[at + 1], (world.items - at - 1) * sizeof world.item[0]);
  --world.items;
  --world.length[queue];
}

bool Mover::push(CheckedWorld& world, std::size_t to, std::size_t from, std::uint32_t item,
                 bool front) {
  const std::size_t in = queue(to, from);
  const std::size_t begin = begin_of(world, in);
  const auto is_letter = [&](std::uint32_t id) { return values_.items.facts(id).letter; };
  const auto letters = [&] {
    const auto first = world.item.begin() + static_cast<std::ptrdiff_t>(begin);
    return static_cast<unsigned>(std::count_if(first, first + world.length[in], is_letter));
  };
  if ((is_letter(item) && world.length[in] >= room_ && letters() >= room_) ||
      world.items == most_items || world.length[in] == 15) {
    ++cut_;
    return false;
  }
  const std::size_t at = begin + (front ? 0u : world.length[in]);
  std::memmove(&world.item[at + 1], &world.item[at], (world.items - at) * sizeof world.item[0]);
  world.item[at] = item;
  ++world.items;
  ++world.length[in];
  return true;
}

// Answers that no node waits for have no effect.
void Mover::drop_dead(CheckedWorld& world, std::size_t i) {
  const LocalFacts& node = facts(world, i);
  const bool session = values_.bounds.channels == Channels::session;
  for (std::size_t from = 0; from < nodes(); ++from) {
    const std::size_t in = queue(i, from);
    for (std::size_t k = world.length[in]; k-- > 0;) {
      const ItemFacts& item = values_.items.facts(world.item[begin_of(world, in) + k]);
      bool dead = !node.up && (session || item.answer);
      if (item.answer && node.up) dead = !waits(world, i, from, item.call);
      if (dead) erase(world, in, k);
    }
    drop_ineffective(world, i, from);
  }
}

bool Mover::waits(const CheckedWorld& world, std::size_t i, std::size_t to,
                  std::uint32_t call) const {
  const LocalFacts& node = facts(world, i);
  return std::ranges::any_of(
      std::span(node.waits).first(node.waiting),
      [&](const LocalFacts::Waits& waited) { return waited.to == to && waited.number == call; });
}

// Calls become equal if no node waits for their answers.
void Mover::forget_calls(CheckedWorld& world, std::size_t i) {
  if (!values_.bounds.canonical) return;
  for (std::size_t j = 0; j < nodes(); ++j) {
    if (j == i) continue;
    const std::size_t begin = begin_of(world, queue(j, i));
    for (std::size_t k = 0; k < world.length[queue(j, i)]; ++k) {
      std::uint32_t& item = world.item[begin + k];
      const ItemFacts& call = values_.items.facts(item);
      if (call.letter && !call.answer && call.call != 0 && !waits(world, i, j, call.call))
        item = values_.not_waited(item);
    }
    drop_ineffective(world, j, i);
    const LocalFacts& other = facts(world, j);
    for (std::size_t k = 0; other.up && k < other.owing; ++k) {
      const LocalFacts::Owes owed = other.owes[k];
      if (owed.to != i || owed.number == 0 || waits(world, i, j, owed.number)) continue;
      const auto argument = static_cast<std::uint32_t>(i) << 24 | owed.number;
      world.node[j] = outcome(world.node[j], explored::code_of(Op::not_waited, argument)).next;
      return forget_calls(world, i);  // the facts about j have changed
    }
  }
}

// A grant has no further effect if its coordinator can no longer name it.
void Mover::forget_granted(CheckedWorld& world) {
  for (std::size_t j = 0; j < nodes(); ++j)
    for (std::size_t k = 0; k < facts(world, j).granting;) {
      const LocalFacts::Owes granted = facts(world, j).granted[k];
      if (may_tell(world, granted.to, j, granted.number)) {
        ++k;
        continue;
      }
      const auto argument = static_cast<std::uint32_t>(granted.to) << 24 | granted.number;
      world.node[j] = outcome(world.node[j], explored::code_of(Op::not_waited, argument)).next;
    }
}

// True if the coordinator has received the grant, may still receive it, or has named it in a letter
// on its way.
bool Mover::may_tell(const CheckedWorld& world, std::size_t i, std::size_t member,
                     std::uint32_t call) const {
  if (call == 0) return false;
  if (facts(world, i).heard[member] == call || waits(world, i, member, call)) return true;
  const std::size_t in = queue(member, i);
  for (std::size_t k = 0; k < world.length[in]; ++k)
    if (values_.items.facts(world.item[begin_of(world, in) + k]).heard == call) return true;
  return false;
}

// A call without a waiting caller can be dropped if it can have no effect. A call can have no
// effect if its tests fail now, and no item before it in the queue can make them pass.
struct Mover::Reception {
  bool halted, joined;  ///< by the caller

  [[nodiscard]] bool acts(const ItemFacts& item, bool waited) const {
    const bool tested = item.acts == Acts::on_halted || item.acts == Acts::on_joined;
    const bool passes = item.acts == Acts::on_halted ? halted : joined;
    return waited || (tested ? passes : item.acts != Acts::never);
  }
  void after(const ItemFacts& item) {
    halted = halted || item.acts == Acts::halt;
    joined = joined || item.acts == Acts::on_halted;
  }
};

Mover::Reception Mover::reception(const CheckedWorld& world, std::size_t to,
                                  std::size_t from) const {
  const NodeId caller{static_cast<std::uint32_t>(from + 1)};
  return {facts(world, to).halted_by == caller, facts(world, to).joined == caller};
}

void Mover::drop_ineffective(CheckedWorld& world, std::size_t to, std::size_t from) {
  if (!values_.bounds.canonical || !values_.by_their_tests) return;
  const std::size_t in = queue(to, from);
  Reception node = reception(world, to, from);
  for (std::size_t k = 0; k < world.length[in];) {
    const ItemFacts& item = values_.items.facts(world.item[begin_of(world, in) + k]);
    if (!node.acts(item, item.call != 0)) {
      erase(world, in, k);
      continue;
    }
    node.after(item);
    ++k;
  }
}

std::optional<Label> Mover::ineffective_first(const CheckedWorld& world, std::uint8_t to,
                                              std::uint8_t from) const {
  const std::size_t in = queue(to, from);
  if (!values_.by_their_tests || world.length[in] == 0) return std::nullopt;
  const ItemFacts& item = values_.items.facts(world.item[begin_of(world, in)]);
  const bool waited = values_.bounds.canonical ? item.call != 0 : waits(world, from, to, item.call);
  if (reception(world, to, from).acts(item, waited)) return std::nullopt;
  return Label{facts(world, to).up ? Label::What::op : Label::What::lose_last, Op::take, to, from};
}

}  // namespace muster::lab::explored
