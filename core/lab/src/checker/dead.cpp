#include "local.hpp"

/// Removes the parts of a node that can have no effect any more. Worlds that differ only in such
/// parts become one. Each protocol knows the dead parts of its states and letters; here are those
/// of the host.

namespace muster::lab::explored {

Surroundings surroundings(const Bounds& bounds) {
  using Order = Surroundings::Order;
  Surroundings around;
  if (bounds.channels == Channels::session) around.order = Order::sessions;
  if (bounds.channels == Channels::fifo) around.order = Order::sent;
  around.once = bounds.duplicates == 0;
  around.prompt = bounds.hooks == Hooks::prompt && bounds.pauses == 0;
  around.hooks_end = bounds.hooks != Hooks::failing;
  around.ranks_only = !bounds.counters;
  return around;
}

namespace {

void forget_calls(const Config& config, const Surroundings& around, Local& node) {
  for (auto& [number, call] : node.calls) {
    Letter& letter = call.letter;
    letter.incarnation = {};
    forget_dead(config, around, letter);
    const auto named = life_called(letter);
    const bool session = around.order == Surroundings::Order::sessions;
    if (session && !named) continue;  // it may go to another life
    letter.message = any_call_to(session ? named : std::nullopt);
  }
}

}  // namespace

void forget_dead(const Bounds& bounds, const Config& config, Local& node) {
  if (!bounds.canonical) return;
  const Surroundings around = surroundings(bounds);
  forget_dead(config, around, node.safe);
  if (node.copy) forget_dead(config, around, *node.copy);
  if (around.ranks_only) node.accepted.reset();
  if (!node.up) return;
  forget_dead(config, around, node.state);
  Common& kept = common(node.state);
  if (around.ranks_only) node.safe.counter_limit = kept.safe.counter_limit;
  // All letters of a session come from one life. The first letter of another life matters only for
  // a node that is blamed, or may be: its losses are then forgotten.
  if (around.order == Surroundings::Order::sessions && around.once) {
    std::erase_if(kept.seen,
                  [&](const auto& seen) { return !may_be_blamed(config, node.state, seen.first); });
    for (std::uint32_t i = 0; i < node.with.size(); ++i)
      if (node.with[i]) kept.seen.try_emplace(NodeId{i + 1}, *node.with[i]);
  }
  forget_calls(config, around, node);
  if (node.stops) node.runs.reset();  // the hook ends with the STOP
  if (!node.works) node.right = {};
  if (node.runs) node.runs->ticket = kept.ticket;
  if (node.stops) node.stops->ticket = kept.ticket;
}

void forget_dead(const Bounds& bounds, const Config& config, Item& item) {
  if (!bounds.canonical) return;
  if (auto* letter = std::get_if<Letter>(&item)) forget_dead(config, surroundings(bounds), *letter);
}

}  // namespace muster::lab::explored
