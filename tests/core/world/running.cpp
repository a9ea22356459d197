#include "world.hpp"

#include <algorithm>

/// Runs the world by itself: frames arrive, hooks end, time passes.

namespace muster::test {

// The oldest pending item: a frame, a dial, or the end of a hook.
World::Next World::next() {
  Next first;
  const auto offer = [&](std::uint64_t order, auto happen) {
    if (order < first.order) first = {order, std::move(happen)};
  };
  for (TestNode& node : nodes_) {
    if (!node.up() || node.paused) continue;
    const std::uint32_t self = node.config.self.value;
    if (const auto& running = node.application.running; running && !node.hold_hooks)
      offer(running->order, [this, self] { end_hook(self); });
    for (const auto& [to, order] : node.life->dials) {
      const NodeId other = to;
      if (can_connect(self, other.value))
        offer(order, [this, self, other] { connect(self, other.value); });
      else if (can_refuse(self, other.value))
        offer(order, [this, &node, other] { refuse_dial(node, other); });
    }
  }
  for (const auto& [id, connection] : connections_)
    for (std::size_t side : {0U, 1U}) {
      const Connection::Side& mine = connection.sides[side];
      if (!mine.open || mine.coming.empty() || at(mine.node).paused) continue;
      if (cuts_.contains({connection.sides[1 - side].node, mine.node})) continue;
      offer(mine.coming.front().order, [this, &node = at(mine.node), number = id] {
        read(node, number);
        work(node);
      });
    }
  return first;
}

bool World::run_once() {
  const Next first = next();
  if (!first.happen) return false;
  first.happen();
  return true;
}

void World::run() {
  for (int items = 0; run_once(); ++items)
    if (items > 100'000) throw Violation("the nodes never become quiet");
}

bool World::advance() {
  run();
  const std::size_t before = steps_;
  while (steps_ == before)
    if (!pass_time()) return false;
  run();
  return true;
}

// Lets time pass until the next timer, or until the next time at which a life has asked to be
// woken. A life is woken at a time for which it has asked even if it no longer needs that.
bool World::pass_time() {
  std::optional<Duration> first;
  std::function<void()> happen;
  const auto offer = [&](Duration due, auto what) {
    if (first && *first <= due) return;
    first = due;
    happen = what;
  };
  for (TestNode& node : nodes_) {
    const std::uint32_t self = node.config.self.value;
    if (!node.up() && node.returns) offer(*node.returns, [this, self] { recover(self); });
    if (!node.up() || node.paused) continue;
    for (const auto& [armed, at] : node.timers())
      offer(at.due - node.ahead, [this, self, timer = armed] { expire(self, timer); });
    if (const auto wake = node.life->sessions.wake)
      offer(*wake - node.ahead, [this, &node] {
        node.life->take(host::Due{});
        work(node);
      });
  }
  if (!first) return false;
  now = std::max(now, *first);
  happen();
  return true;
}

bool World::settle(const std::vector<NodeSet>& parts, unsigned turns) {
  run();
  const Timings& timings = nodes_.front().config.timings;
  const Duration enough = 8 * (timings.coordinator_timeout + timings.check_every + timings.T);
  for (bool held = false; turns > 0; --turns) {
    const bool holds = are_one_group(parts);
    if (holds && !held) settled_at = now;
    held = holds;
    if (held && now - settled_at >= enough) return true;
    if (!advance()) return holds;
  }
  return false;
}

}  // namespace muster::test
