#include "world.hpp"

#include <algorithm>

/// Connections, and the reading of their frames. The sessions decide about letters, lives and
/// proofs, not this file.

namespace muster::test {

namespace {

bool is_letter(const Connection::Coming& coming) {
  return coming.frame && std::holds_alternative<host::Carried>(*coming.frame);
}

std::size_t side_of(const Connection& connection, NodeId node) {
  return connection.sides[0].node == node ? 0 : 1;
}

}  // namespace

// The connections on which `at` may still read frames from `of`, the oldest first.
std::vector<host::ConnectionId> World::connections(NodeId at, NodeId of) const {
  std::vector<host::ConnectionId> found;
  for (const auto& [number, connection] : connections_) {
    const std::size_t side = side_of(connection, at);
    const Connection::Side& mine = connection.sides[side];
    if (mine.node == at && mine.open && connection.sides[1 - side].node == of)
      found.push_back(number);
  }
  return found;
}

bool World::is_open(NodeId a, NodeId b) const {
  return !cuts_.contains({a, b}) && !cuts_.contains({b, a});
}

void World::write(NodeId from, host::ConnectionId number, host::Frame frame) {
  Connection& connection = connections_.at(number);
  Connection::Side& other = connection.sides[1 - side_of(connection, from)];
  if (other.open) other.coming.push_back({std::move(frame), next_order()});
}

void World::close(NodeId by, host::ConnectionId number) {
  Connection& connection = connections_.at(number);
  const std::size_t side = side_of(connection, by);
  Connection::Side& mine = connection.sides[side];
  if (!std::exchange(mine.open, false)) return;
  mine.coming.clear();
  Connection::Side& other = connection.sides[1 - side];
  if (other.open) other.coming.push_back({std::nullopt, next_order()});
}

bool World::read(TestNode& node, host::ConnectionId number) {
  Connection& connection = connections_.at(number);
  const NodeId self = node.config.self;
  const std::size_t side = side_of(connection, self);
  Connection::Side& mine = connection.sides[side];
  if (mine.coming.empty() || cuts_.contains({connection.sides[1 - side].node, self})) return false;
  auto frame = std::move(mine.coming.front().frame);
  mine.coming.pop_front();
  if (frame) {
    node.life->take(host::Came{number, *std::move(frame), 0});
  } else {
    mine.open = false;
    node.life->take(host::Closed{number, host::ConnectionEnd::finished, "closed"});
  }
  return true;
}

// --- Letters

bool World::can_deliver(std::uint32_t from, std::uint32_t to) const {
  const NodeId reader{to};
  if (!at(reader).up() || at(reader).paused || is_cut(from, to)) return false;
  const auto all = connections(reader, NodeId{from});
  return std::any_of(all.begin(), all.end(), [&](host::ConnectionId number) {
    const Connection& connection = connections_.at(number);
    return !connection.sides[side_of(connection, reader)].coming.empty();
  });
}

bool World::deliver(std::uint32_t from, std::uint32_t to) {
  if (!can_deliver(from, to)) return false;
  TestNode& node = (*this)[to];
  for (host::ConnectionId number : connections(NodeId{to}, NodeId{from})) {
    const Connection& connection = connections_.at(number);
    const auto& coming = connection.sides[side_of(connection, NodeId{to})].coming;
    while (!coming.empty()) {
      const bool letter = is_letter(coming.front());
      read(node, number);
      if (!letter) continue;
      work(node);
      return true;
    }
  }
  work(node);
  return true;
}

std::size_t World::letters_between(std::uint32_t from, std::uint32_t to) const {
  std::size_t letters = 0;
  for (host::ConnectionId number : connections(NodeId{to}, NodeId{from})) {
    const Connection& connection = connections_.at(number);
    const auto& coming = connection.sides[side_of(connection, NodeId{to})].coming;
    letters += static_cast<std::size_t>(std::count_if(coming.begin(), coming.end(), is_letter));
  }
  return letters;
}

bool World::can_lose(std::uint32_t from, std::uint32_t to) const {
  return !(*this)[from].up() && (*this)[to].up() && letters_between(from, to) > 0;
}

bool World::lose(std::uint32_t from, std::uint32_t to) {
  if (!can_lose(from, to)) return false;
  const auto all = connections(NodeId{to}, NodeId{from});
  for (auto number = all.rbegin(); number != all.rend(); ++number) {
    Connection& connection = connections_.at(*number);
    auto& coming = connection.sides[side_of(connection, NodeId{to})].coming;
    const auto newest = std::find_if(coming.rbegin(), coming.rend(), is_letter);
    if (newest == coming.rend()) continue;
    coming.erase(std::next(newest).base());
    return true;
  }
  return false;
}

bool World::reset(std::uint32_t a, std::uint32_t b) {
  const auto all = connections(NodeId{a}, NodeId{b});
  for (host::ConnectionId number : all)
    for (Connection::Side& side : connections_.at(number).sides) {
      side.coming.clear();
      if (side.open) side.coming.push_back({std::nullopt, next_order()});
    }
  return !all.empty();
}

bool World::cut(std::uint32_t from, std::uint32_t to) {
  return from != to && cuts_.insert({NodeId{from}, NodeId{to}}).second;
}

// --- Dials

bool World::can_connect(std::uint32_t a, std::uint32_t b) const {
  const TestNode& left = (*this)[a];
  const TestNode& right = (*this)[b];
  return a != b && left.up() && right.up() && !left.paused && !right.paused &&
         is_open(NodeId{a}, NodeId{b}) &&
         (left.life->dials.contains(NodeId{b}) || right.life->dials.contains(NodeId{a}));
}

bool World::connect(std::uint32_t a, std::uint32_t b) {
  if (!can_connect(a, b)) return false;
  TestNode& left = (*this)[a];
  TestNode& right = (*this)[b];
  if (left.life->dials.contains(NodeId{b}))
    begin_connection(left, right);
  else
    begin_connection(right, left);
  return true;
}

// Hellos are read at once. Frames behind a Hello wait until the test delivers them.
void World::begin_connection(TestNode& dialler, TestNode& other) {
  const host::ConnectionId number{++last_connection_};
  connections_.emplace(number, Connection{{{{dialler.config.self}, {other.config.self}}}});
  dialler.life->dials.erase(other.config.self);
  dialler.life->take(host::Dialled{other.config.self, number});
  other.life->take(host::Accepted{number});
  const Connection& connection = connections_.at(number);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t side : {1U, 0U}) {
      const Connection::Side& mine = connection.sides[side];
      while (mine.open && !mine.coming.empty() && !is_letter(mine.coming.front()))
        more = read(at(mine.node), number);
    }
  }
  work(other);
  if (dialler.up()) work(dialler);
}

bool World::can_refuse(std::uint32_t caller, std::uint32_t of) const {
  const TestNode& node = (*this)[caller];
  const TestNode& other = (*this)[of];
  if (!node.up() || node.paused || other.up() || other.silent) return false;
  return is_open(NodeId{caller}, NodeId{of}) &&
         (node.life->dials.contains(NodeId{of}) || can_deliver(of, caller));
}

bool World::refuse(std::uint32_t caller, std::uint32_t of) {
  if (!can_refuse(caller, of)) return false;
  TestNode& node = (*this)[caller];
  for (host::ConnectionId number : connections(NodeId{caller}, NodeId{of}))
    while (read(node, number)) continue;
  refuse_dial(node, NodeId{of});
  return true;
}

// A call that was made during this dial may cause another dial. This function refuses that dial
// too.
void World::refuse_dial(TestNode& node, NodeId of) {
  while (node.life->dials.erase(of) > 0)
    node.life->take(host::DialFailed{of, host::DialEnd::refused});
  work(node);
}

// --- Silence

namespace {

// The oldest call to that node whose bound has not passed yet.
const host::Call* oldest_call(const TestNode& node, std::uint32_t to) {
  const auto found = std::find_if(node.calls().begin(), node.calls().end(), [to](const auto& call) {
    return call.second.letter.to.value == to && call.second.deadline;
  });
  return found == node.calls().end() ? nullptr : &found->second;
}

}  // namespace

bool World::silence(std::uint32_t caller, std::uint32_t of) {
  TestNode& node = (*this)[caller];
  const host::Call* call = oldest_call(node, of);
  if (!call || node.paused) return false;
  node.ahead = std::max(node.ahead, *call->deadline - now);
  node.life->take(host::Due{});
  work(node);
  return true;
}

}  // namespace muster::test
