#include "world.hpp"

#include <algorithm>

/// The world by itself: letters arrive, hooks end, time passes.

namespace muster::test::any {

void World::run() {
  for (int turns = 0;; ++turns) {
    if (turns > 100'000) throw Wrong("the nodes never become quiet");
    bool moved = false;
    while (!order_.empty()) {
      const auto [from, to] = order_.front();
      order_.pop_front();
      if (deliver(from.value, to.value)) moved = true;
    }
    for (std::uint32_t id = 1; id <= size() && !hold_hooks; ++id) moved = end_hook(id) || moved;
    for (const auto& [pair, letters] : letters_)
      if (!letters.empty() && !at(pair.second).paused) order_.push_back(pair);
    if (!moved && order_.empty()) return;
  }
}

bool World::will_be_answered(const Node& node, const OutCall& call) const {
  const Node& other = at(call.letter.to);
  if (!other.up) return false;
  const auto asked = other.asked.find({node.config.self, call.letter.call});
  return asked != other.asked.end() && asked->second == node.safe.incarnation &&
         owes(other.protocol, node.config.self, call.letter.call);
}

bool World::advance() {
  run();
  std::optional<Duration> first;
  std::uint32_t who = 0;
  std::optional<Timer> timer;
  std::optional<NodeId> silent;
  const auto offer = [&](Duration due, std::uint32_t node, std::optional<Timer> t,
                         std::optional<NodeId> of) {
    if (first && *first <= due) return;
    first = due;
    who = node;
    timer = t;
    silent = of;
  };
  for (const Node& node : nodes_) {
    const std::uint32_t self = node.config.self.value;
    if (!node.up && node.returns) offer(*node.returns, self, {}, {});
    if (!node.up || node.paused) continue;
    for (const auto& [armed, due] : node.timers) offer(due, self, armed, {});
    for (const auto& [number, call] : node.calls)
      if (!will_be_answered(node, call)) offer(call.due, self, {}, call.letter.to);
  }
  if (!first) return false;
  now = std::max(now, *first);
  if (timer)
    expire(who, *timer);
  else if (silent)
    give_up(who, silent->value);
  else
    recover(who);
  run();
  return true;
}

bool World::settle(const std::vector<NodeSet>& parts, unsigned turns) {
  run();
  const unsigned enough = 12 * size() + 12;
  for (unsigned held = 0; turns > 0; --turns) {
    const auto all = standings();
    const bool holds = std::none_of(parts.begin(), parts.end(), [&](const NodeSet& part) {
      return assertion_4(all, part).has_value();
    });
    held = holds ? held + 1 : 0;
    if (held == 1) settled_at = now;
    if (held == enough) return true;
    if (!advance()) return holds;
  }
  return false;
}

}  // namespace muster::test::any
