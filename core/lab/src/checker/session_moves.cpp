// What may happen to a world, and what happens when nothing fails.

#include "session_world.hpp"

#include <algorithm>

namespace muster::lab::sessions {

World first_world(const SessionBounds& bounds) {
  World world;
  if (!bounds.connected) return world;
  world = made(std::move(world), {Happening::begins, 1});
  world = made(std::move(world), {Happening::begins, 2});
  for (std::size_t round = 0; !settled(world); ++round) {
    const Move next = next_in_peace(world, bounds, round).value();
    world = made(std::move(world), next);
  }
  return world;
}

std::vector<Move> moves(const World& world, const SessionBounds& bounds, bool failures) {
  std::vector<Move> all;
  const auto add = [&](Happening what, unsigned node, std::size_t which = 0) {
    all.push_back({what, static_cast<std::uint8_t>(node), static_cast<std::uint16_t>(which), true});
  };
  for (unsigned node : {1U, 2U}) {
    const Node& own = node_at(world, node);
    const Node& there = node_at(world, other(node));
    if (!own.life) {
      if (failures && own.lives < bounds.lives) add(Happening::begins, node);
      continue;
    }
    if (failures) {
      add(Happening::fails, node);
      add(Happening::fails_and_loses, node);
      if (world.silences < bounds.silences) add(Happening::machine_stops, node);
    }
    const Life& life = *own.life;
    if (life.dial == DialState::out) {
      if (!there.off && world.links.size() < bounds.links) add(Happening::dial_arrives, node);
      if (failures || there.off) add(Happening::dial_is_silent, node);
    } else if (life.dial) {
      add(Happening::dial_is_told, node);
    }
    for (std::size_t at = 0; at < world.links.size(); ++at) {
      const Link& link = world.links[at];
      for (const Side* side : {&link.dialler, &link.acceptor}) {
        const Side& far = side == &link.dialler ? link.acceptor : link.dialler;
        if (side->node != node || !side->open || side->life != life.incarnation) continue;
        const bool ends = std::any_of(side->coming.begin(), side->coming.end(), [](auto& parcel) {
          return std::holds_alternative<Gone>(parcel);
        });
        if (!far.open && !ends) add(Happening::connection_noticed, node, at);
        const bool is_known = side->number.value != 0 || side == &link.acceptor;
        if (is_known && !side->coming.empty()) add(Happening::reads, node, at);
      }
    }
    if (failures && life.calls_made < bounds.calls) {
      add(Happening::calls_the_node, node);
      if (life.sessions.peers.at(id_of(other(node))).session) add(Happening::calls_the_life, node);
    }
    for (std::size_t at = 0; at < life.owed.size(); ++at) add(Happening::answers, node, at);
    host::Sessions copy = life.sessions;
    for (std::size_t at = 0; at < deadlines(copy).size(); ++at) add(Happening::deadline, node, at);
  }
  for (std::size_t at = 0; failures && at < world.links.size(); ++at) {
    const Link& link = world.links[at];
    if (world.resets < bounds.resets && link.dialler.open && link.acceptor.open)
      add(Happening::connection_reset, link.dialler.node, at);
  }
  return all;
}

std::optional<Move> next_in_peace(const World& world, const SessionBounds& bounds,
                                  std::size_t round) {
  const std::vector<Move> all = moves(world, bounds, false);
  const auto now = std::find_if(all.begin(), all.end(),
                                [](const Move& move) { return move.what != Happening::deadline; });
  if (now != all.end()) return *now;
  if (all.empty() || settled(world)) return std::nullopt;
  return all[round % all.size()];
}

bool settled(const World& world) {
  const bool both = world.first.life && world.second.life;
  for (unsigned node : {1U, 2U}) {
    const auto& life = node_at(world, node).life;
    if (!life) continue;
    if (!life->awaited.empty()) return false;
    const host::Peer& peer = life->sessions.peers.at(id_of(other(node)));
    if (both && !std::holds_alternative<host::Connected>(peer.touch)) return false;
  }
  return true;
}

}  // namespace muster::lab::sessions
