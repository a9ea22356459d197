// The moves that may happen in a world, and those that happen when nothing fails.

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
  void add(MoveKind what, unsigned node, std::size_t which = 0) {
    moves_.push_back(
        {what, static_cast<std::uint8_t>(node), static_cast<std::uint16_t>(which), true});
  }
  [[nodiscard]] bool may(unsigned SessionTroubles::*trouble) const {
    return failures_ && world_.had.*trouble < bounds_.troubles.*trouble;
  }
  [[nodiscard]] bool has_room() const { return world_.links.size() < bounds_.links; }

  void of_nobody(unsigned node) {
    const Node& own = node_at(world_, node);
    if (may(&SessionTroubles::lives)) add(MoveKind::begins, node);
    if (!may(&SessionTroubles::restores)) return;
    for (std::uint64_t life = 1; life <= own.lives; ++life)
      add(MoveKind::begins_from_old_store, node, life);
  }

  void of_life(unsigned node) {
    const SessionLife& life = *node_at(world_, node).life;
    const Node& there = node_at(world_, other(node));
    if (failures_) {
      add(MoveKind::fails, node);
      add(MoveKind::fails_and_loses, node);
      if (may(&SessionTroubles::silences)) add(MoveKind::machine_stops, node);
    }
    if (life.dial == DialState::out) {
      if (!there.off && has_room()) add(MoveKind::dial_arrives, node);
      if (failures_ || there.off) add(MoveKind::dial_is_silent, node);
    } else if (life.dial) {
      add(MoveKind::dial_is_told, node);
    }
    if (failures_ && life.calls < bounds_.calls) {
      add(MoveKind::calls_the_node, node);
      if (life.sessions.peers.at(id_of(other(node))).session) add(MoveKind::calls_the_life, node);
    }
    for (std::size_t at = 0; at < life.owed.size(); ++at) add(MoveKind::answers, node, at);
    const std::size_t to_come = count_deadlines(life.sessions);
    for (std::size_t at = 0; at < to_come; ++at) add(MoveKind::deadline, node, at);
  }

  void of_link(std::size_t at) {
    const Link& link = world_.links[at];
    for (const Side* side : {&link.dialler, &link.acceptor}) {
      const Side& far = side == &link.dialler ? link.acceptor : link.dialler;
      if (!side->open) continue;
      if (!far.open && !has_ended(*side)) add(MoveKind::connection_noticed, side->node, at);
      const bool is_known = side->number.value != 0 || side == &link.acceptor;
      if (!is_known || side->coming.empty()) continue;
      add(MoveKind::reads, side->node, at);
      const auto* frame = std::get_if<host::Frame>(&side->coming.front());
      if (frame && std::holds_alternative<host::Hello>(*frame) && has_room() &&
          may(&SessionTroubles::replays))
        add(MoveKind::hello_comes_again, side->node, at);
    }
    if (link.dialler.open && link.acceptor.open && may(&SessionTroubles::resets))
      add(MoveKind::connection_reset, link.dialler.node, at);
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

/// True if a life that runs has the number of an earlier life. Such a life may be refused for good.
bool is_refused(const SessionWorld& world) {
  return (world.first.life && world.first.life->restored) ||
         (world.second.life && world.second.life->restored);
}

bool both_are_connected(const SessionWorld& world) {
  return both_are_up(world) && std::holds_alternative<host::Connected>(peer_of(world, 1).touch) &&
         std::holds_alternative<host::Connected>(peer_of(world, 2).touch);
}

/// True if this side of the connection carries the session of its node.
bool carries(const SessionWorld& world, const Side& side) {
  const auto* connected = std::get_if<host::Connected>(&peer_of(world, side.node).touch);
  return connected && side.open && connected->connection == side.number;
}

}  // namespace

std::vector<Move> moves(const SessionWorld& world, const SessionBounds& bounds, bool failures) {
  return Offers(world, bounds, failures).all();
}

bool is_trouble(MoveKind what) {
  switch (what) {
    case MoveKind::begins:
    case MoveKind::connection_reset:
    case MoveKind::connection_noticed:
    case MoveKind::hello_comes_again:
    case MoveKind::dial_is_silent:
      return true;
    default:
      return false;
  }
}

std::optional<Move> next_in_peace(const SessionWorld& world, const SessionBounds& bounds,
                                  std::size_t deadlines) {
  const std::vector<Move> all = moves(world, bounds, false);
  const auto now = std::find_if(all.begin(), all.end(),
                                [](const Move& move) { return move.what != MoveKind::deadline; });
  if (now != all.end()) return *now;
  if (all.empty() || settled(world)) return std::nullopt;
  return all[deadlines % all.size()];
}

// Two things are left out. One is the unreported loss of a connection, which the nodes would not
// notice in time. The other is the limit on connections.
std::vector<Move> next_in_step(const SessionWorld& world, SessionBounds bounds) {
  bounds.links = any_number;
  std::vector<Move> both;
  const std::vector<Move> all = moves(world, bounds, false);
  for (unsigned node : {1U, 2U}) {
    const auto next = std::find_if(all.begin(), all.end(), [node](const Move& move) {
      return move.node == node && move.what != MoveKind::deadline &&
             move.what != MoveKind::connection_noticed;
    });
    if (next != all.end()) both.push_back(*next);
  }
  if (both.empty())
    for (unsigned node : {1U, 2U})
      if (std::holds_alternative<host::Waiting>(peer_of(world, node).touch))
        both.push_back({MoveKind::deadline, static_cast<std::uint8_t>(node), 0, true});
  for (Move& move : both) move.drain_finds = false;  // it is on its way
  return both;
}

// True if the two nodes may be without a connection. For example, each may have accepted the
// other's connection and closed its own, and not know yet that the other has done the same.
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
