// What may happen to a world, and what happens when nothing fails.

#include "session_world.hpp"

#include <algorithm>

namespace muster::lab::sessions {

namespace {

class Offers {
 public:
  Offers(const SessionWorld& world, const SessionBounds& bounds, bool failures)
      : world_(world), bounds_(bounds), failures_(failures) {}

  std::vector<Move> all() {
    for (unsigned node : {1U, 2U}) {
      if (node_at(world_, node).life) {
        of_life(node);
      } else if (failures_) {
        of_nobody(node);
      }
    }
    for (std::size_t at = 0; at < world_.links.size(); ++at) of_link(at);
    return std::move(moves_);
  }

 private:
  void add(Happening what, unsigned node, std::size_t which = 0) {
    moves_.push_back(
        {what, static_cast<std::uint8_t>(node), static_cast<std::uint16_t>(which), true});
  }
  [[nodiscard]] bool may(unsigned SessionTroubles::*trouble) const {
    return failures_ && world_.had.*trouble < bounds_.troubles.*trouble;
  }
  [[nodiscard]] bool has_room() const { return world_.links.size() < bounds_.links; }

  void of_nobody(unsigned node) {
    const Node& own = node_at(world_, node);
    if (may(&SessionTroubles::lives)) add(Happening::begins, node);
    if (!may(&SessionTroubles::restores)) return;
    for (std::uint64_t life = 1; life <= own.lives; ++life)
      add(Happening::begins_from_old_store, node, life);
  }

  void of_life(unsigned node) {
    const SessionLife& life = *node_at(world_, node).life;
    const Node& there = node_at(world_, other(node));
    if (failures_) {
      add(Happening::fails, node);
      add(Happening::fails_and_loses, node);
      if (may(&SessionTroubles::silences)) add(Happening::machine_stops, node);
    }
    if (life.dial == DialState::out) {
      if (!there.off && has_room()) add(Happening::dial_arrives, node);
      if (failures_ || there.off) add(Happening::dial_is_silent, node);
    } else if (life.dial) {
      add(Happening::dial_is_told, node);
    }
    if (failures_ && life.calls < bounds_.calls) {
      add(Happening::calls_the_node, node);
      if (life.sessions.peers.at(id_of(other(node))).session) add(Happening::calls_the_life, node);
    }
    for (std::size_t at = 0; at < life.owed.size(); ++at) add(Happening::answers, node, at);
    const std::size_t to_come = count_deadlines(life.sessions);
    for (std::size_t at = 0; at < to_come; ++at) add(Happening::deadline, node, at);
  }

  void of_link(std::size_t at) {
    const Link& link = world_.links[at];
    for (const Side* side : {&link.dialler, &link.acceptor}) {
      const Side& far = side == &link.dialler ? link.acceptor : link.dialler;
      if (!side->open) continue;
      if (!far.open && !has_ended(*side)) add(Happening::connection_noticed, side->node, at);
      const bool is_known = side->number.value != 0 || side == &link.acceptor;
      if (!is_known || side->coming.empty()) continue;
      add(Happening::reads, side->node, at);
      const auto* frame = std::get_if<host::Frame>(&side->coming.front());
      if (frame && std::holds_alternative<host::Hello>(*frame) && has_room() &&
          may(&SessionTroubles::replays))
        add(Happening::hello_comes_again, side->node, at);
    }
    if (link.dialler.open && link.acceptor.open && may(&SessionTroubles::resets))
      add(Happening::connection_reset, link.dialler.node, at);
  }

  const SessionWorld& world_;
  const SessionBounds& bounds_;
  const bool failures_;
  std::vector<Move> moves_;
};

const host::Peer& peer_of(const SessionWorld& world, unsigned node) {
  return node_at(world, node).life->sessions.peers.at(id_of(other(node)));
}

bool both_are_up(const SessionWorld& world) {
  return world.first.life && world.second.life;
}

/// A life whose number was another's may be refused for good.
bool is_refused(const SessionWorld& world) {
  return (world.first.life && world.first.life->restored) ||
         (world.second.life && world.second.life->restored);
}

bool both_are_connected(const SessionWorld& world) {
  return both_are_up(world) && std::holds_alternative<host::Connected>(peer_of(world, 1).touch) &&
         std::holds_alternative<host::Connected>(peer_of(world, 2).touch);
}

/// A session of the node that has this side.
bool carries(const SessionWorld& world, const Side& side) {
  const auto* connected = std::get_if<host::Connected>(&peer_of(world, side.node).touch);
  return connected && side.open && connected->connection == side.number;
}

}  // namespace

std::vector<Move> moves(const SessionWorld& world, const SessionBounds& bounds, bool failures) {
  return Offers(world, bounds, failures).all();
}

bool is_trouble(Happening what) {
  switch (what) {
    case Happening::begins:
    case Happening::connection_reset:
    case Happening::connection_noticed:
    case Happening::hello_comes_again:
    case Happening::dial_is_silent:
      return true;
    default:
      return false;
  }
}

std::optional<Move> next_in_peace(const SessionWorld& world, const SessionBounds& bounds,
                                  std::size_t deadlines) {
  const std::vector<Move> all = moves(world, bounds, false);
  const auto now = std::find_if(all.begin(), all.end(),
                                [](const Move& move) { return move.what != Happening::deadline; });
  if (now != all.end()) return *now;
  if (all.empty() || settled(world)) return std::nullopt;
  return all[deadlines % all.size()];
}

// That a connection has ended without a word is not noticed in time, and no end of it is in the way
// of another.
std::vector<Move> next_in_step(const SessionWorld& world, SessionBounds bounds) {
  bounds.links = any_number;
  std::vector<Move> both;
  const std::vector<Move> all = moves(world, bounds, false);
  for (unsigned node : {1U, 2U}) {
    const auto next = std::find_if(all.begin(), all.end(), [node](const Move& move) {
      return move.node == node && move.what != Happening::deadline &&
             move.what != Happening::connection_noticed;
    });
    if (next != all.end()) both.push_back(*next);
  }
  if (both.empty())
    for (unsigned node : {1U, 2U})
      if (std::holds_alternative<host::Waiting>(peer_of(world, node).touch))
        both.push_back({Happening::deadline, static_cast<std::uint8_t>(node), 0, true});
  for (Move& move : both) move.drain_finds = false;  // it is on its way
  return both;
}

// Where each has taken the other's connection and closed its own, neither knows it yet.
bool is_apart(const SessionWorld& world) {
  if (!both_are_up(world) || is_refused(world)) return false;
  for (const auto* life : {&world.first.life, &world.second.life})
    if (!(*life)->channel.awaited.empty()) return false;
  return std::none_of(world.links.begin(), world.links.end(), [&](const Link& link) {
    return carries(world, link.dialler) && carries(world, link.acceptor);
  });
}

Complaint lost(const SessionWorld& world) {
  if (!both_are_connected(world) || is_refused(world)) return {};
  for (unsigned node : {1U, 2U})
    if (!node_at(world, node).life->channel.awaited.empty())
      return "two nodes are connected, nothing is on its way, and a call is not answered";
  return {};
}

bool settled(const SessionWorld& world) {
  for (unsigned node : {1U, 2U}) {
    const auto& life = node_at(world, node).life;
    if (!life) continue;
    if (!life->channel.awaited.empty()) return false;
    const Node& there = node_at(world, other(node));
    if (!there.life && !there.off && peer_of(world, node).session) return false;
  }
  return !both_are_up(world) || both_are_connected(world) || is_refused(world);
}

}  // namespace muster::lab::sessions
