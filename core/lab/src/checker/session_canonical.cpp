// Two worlds that differ only in the names of things, or in what decides nothing, are one.

#include "session_world.hpp"

#include <algorithm>

namespace muster::lab::sessions {

namespace {

void rank_hellos(World& world, unsigned node) {
  std::map<std::uint64_t, std::uint64_t> ranks;
  Node& own = node_at(world, node);
  const std::uint64_t present_life = own.life ? own.life->incarnation.value : 0;
  // Numbers of one life are compared with each other alone.
  for (unsigned incarnation = 1; incarnation <= own.lives; ++incarnation) {
    std::vector<std::uint64_t*> numbers;
    if (present_life == incarnation) numbers.push_back(&own.life->sessions.hellos);
    if (auto& there = node_at(world, other(node)).life) {
      host::Peer& peer = there->sessions.peers.at(id_of(node));
      if (peer.instance == instance_of(node, Incarnation{incarnation}))
        numbers.push_back(&peer.last_hello);
    }
    for (Link& link : world.links)
      for (Side* side : {&link.dialler, &link.acceptor})
        for (Parcel& parcel : side->coming) {
          auto* frame = std::get_if<host::Frame>(&parcel);
          auto* hello = frame ? std::get_if<host::Hello>(frame) : nullptr;
          if (hello && hello->from == id_of(node) && hello->incarnation.value == incarnation)
            numbers.push_back(&hello->number);
        }
    ranks.clear();
    for (const std::uint64_t* number : numbers) ranks[*number] = 0;
    std::uint64_t rank = ranks.contains(0) ? 0 : 1;
    for (auto& [number, its] : ranks) its = rank++;
    for (std::uint64_t* number : numbers) *number = ranks.at(*number);
  }
}

void rank_connections(World& world, unsigned node) {
  auto& life = node_at(world, node).life;
  if (!life) return;
  std::map<host::ConnectionId, host::ConnectionId> ranks{{{}, {}}};
  life->connections = 0;
  for (Link& link : world.links)
    for (Side* side : {&link.dialler, &link.acceptor}) {
      if (side->node != node || side->number.value == 0) continue;
      if (!side->open || side->life != life->incarnation) {
        side->number = {};
        continue;
      }
      const host::ConnectionId rank{++life->connections};
      ranks.emplace(side->number, rank);
      side->number = rank;
    }
  host::Sessions& sessions = life->sessions;
  std::map<host::ConnectionId, NodeId> whose;
  for (const auto& [number, of] : sessions.whose) whose.emplace(ranks.at(number), of);
  sessions.whose = std::move(whose);
  for (auto& [of, peer] : sessions.peers) {
    if (auto* greeting = std::get_if<host::Greeting>(&peer.touch))
      greeting->connection = ranks.at(greeting->connection);
    if (auto* connected = std::get_if<host::Connected>(&peer.touch))
      connected->connection = ranks.at(connected->connection);
  }
  for (host::Stranger& stranger : sessions.strangers)
    stranger.connection = ranks.at(stranger.connection);
}

void forget(host::Sessions& sessions) {
  for (host::Time* deadline : deadlines(sessions)) *deadline = some_day;
  sessions.wake.reset();
  sessions.soonest.reset();
  sessions.counters = {};
  sessions.warned.clear();
  sessions.differing.clear();
  sessions.voices.clear();
  for (auto& [node, peer] : sessions.peers) {
    peer.quick_dials = std::min(peer.quick_dials, 1U);  // the first is at once
    peer.slow_dials = 0;
    if (auto* connected = std::get_if<host::Connected>(&peer.touch)) connected->written = 0;
    if (!peer.session) continue;
    peer.session->untold_bytes = 0;
  }
}

bool is_over(const Link& link) {
  return !link.dialler.open && !link.acceptor.open;
}

}  // namespace

World canonical(World world) {
  std::erase_if(world.links, is_over);
  world.drain_finds = true;
  world.drained = false;
  for (unsigned node : {1U, 2U}) {
    rank_connections(world, node);
    if (auto& life = node_at(world, node).life) forget(life->sessions);
  }
  for (unsigned node : {1U, 2U}) rank_hellos(world, node);
  return world;
}

}  // namespace muster::lab::sessions
