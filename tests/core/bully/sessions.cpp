#include "world.hpp"

#include <algorithm>
#include <utility>

/// Sessions between lives, proofs and silence, and what happens by itself.

namespace muster::test {

namespace {

bool holds_answer(const Peer& peer, CallNumber call) {
  return std::any_of(peer.incoming.begin(), peer.incoming.end(), [&](const Queued& queued) {
    const auto* letter = std::get_if<Letter>(&queued.item);
    return letter && is_answer(*letter) && letter->call == call;
  });
}

bool holds_call(const Peer& peer, CallNumber call) {
  return std::any_of(peer.incoming.begin(), peer.incoming.end(), [&](const Queued& queued) {
    const auto* letter = std::get_if<Letter>(&queued.item);
    return letter && !is_answer(*letter) && letter->call == call;
  });
}

template <class What>
bool holds(const Peer& peer) {
  return std::any_of(peer.incoming.begin(), peer.incoming.end(), [](const Queued& queued) {
    return std::holds_alternative<What>(queued.item);
  });
}

}  // namespace

void World::push(Node& to, NodeId from, Item item) {
  to.peers[from].incoming.push_back({std::move(item), ++order_});
}

// A call goes to the life that the session joins; without a session it waits for one.
void World::transmit(Node& node, OutCall& call) {
  const NodeId to = call.letter.to;
  const auto with = node.peers[to].with;
  if (!with || call.given_up || call.sent_to == with) return;
  if (const auto life = life_called(call.letter); life && life != with) {
    call.given_up = true;
    push(node, to, Unanswered{to, call.letter.call});
    return;
  }
  call.sent_to = with;
  Node& other = at(to);
  if (other.up && other.safe.incarnation == with) push(other, node.config.self, call.letter);
}

bool World::connect(std::uint32_t a, std::uint32_t b) {
  Node& left = (*this)[a];
  Node& right = (*this)[b];
  if (a == b || !left.up || !right.up || left.paused || right.paused) return false;
  const auto meet = [&](Node& node, const Node& other) {
    const NodeId id = other.config.self;
    Peer& peer = node.peers[id];
    if (peer.hello) push(node, id, SessionEnds{});
    push(node, id, SessionBegins{other.safe.incarnation});
    peer.hello = other.safe.incarnation;
  };
  if (left.peers[right.config.self].hello == right.safe.incarnation) return false;
  meet(left, right);
  meet(right, left);
  return true;
}

// A refusal proves the end of the life that the session joins, once, and answers calls made before
// it.
bool World::would_refuse(std::uint32_t caller, std::uint32_t of) const {
  const Node& node = (*this)[caller];
  const Node& other = (*this)[of];
  if (!node.up || node.paused || other.up || other.silent || caller == of) return false;
  if (std::any_of(node.calls.begin(), node.calls.end(), [&](const auto& call) {
        return call.second.letter.to == other.config.self && !call.second.given_up;
      }))
    return true;
  const auto peer = node.peers.find(other.config.self);
  return peer != node.peers.end() && peer->second.with && !holds<Refusal>(peer->second);
}

bool World::refuse(std::uint32_t caller, std::uint32_t of) {
  if (!would_refuse(caller, of)) return false;
  Node& node = (*this)[caller];
  Refusal refusal;
  for (auto& [number, call] : node.calls) {
    if (call.letter.to.value != of || call.given_up) continue;
    call.given_up = true;
    refusal.calls.insert(number);
  }
  push(node, NodeId{of}, std::move(refusal));
  return true;
}

bool World::can_be_answered(const Node& caller, const OutCall& call) const {
  const NodeId self = caller.config.self;
  const Node& other = at(call.letter.to);
  if (const auto peer = caller.peers.find(call.letter.to);
      peer != caller.peers.end() && holds_answer(peer->second, call.letter.call))
    return true;
  if (!other.up || other.paused) return false;
  const auto life = other.safe.incarnation;
  if (const auto named = life_called(call.letter); named && named != life) return false;
  if (call.sent_to != life) return true;  // it goes to this life when the hosts have met
  const auto peer = other.peers.find(self);
  if (peer != other.peers.end() && holds_call(peer->second, call.letter.call)) return true;
  return std::any_of(other.state.owed.begin(), other.state.owed.end(), [&](const auto& owed) {
    return owed.to == self && owed.call == call.letter.call;
  });
}

bool World::would_be_silent(std::uint32_t caller, std::uint32_t of) const {
  const Node& node = (*this)[caller];
  return node.up && !node.paused &&
         std::any_of(node.calls.begin(), node.calls.end(), [&](const auto& call) {
           return call.second.letter.to.value == of && !call.second.given_up &&
                  !can_be_answered(node, call.second);
         });
}

bool World::silence(std::uint32_t caller, std::uint32_t of) {
  if (!would_be_silent(caller, of)) return false;
  Node& node = (*this)[caller];
  for (auto& [number, call] : node.calls) {
    if (call.letter.to.value != of || call.given_up || can_be_answered(node, call)) continue;
    call.given_up = true;
    push(node, NodeId{of}, Silence{number});
    break;
  }
  return true;
}

bool World::lose(std::uint32_t from, std::uint32_t to) {
  Node& node = (*this)[to];
  if ((*this)[from].up || !node.up) return false;
  auto& incoming = node.peers[NodeId{from}].incoming;
  if (incoming.empty() || !std::holds_alternative<Letter>(incoming.back().item)) return false;
  incoming.pop_back();
  return true;
}

// --- Taking what comes
// --------------------------------------------------------------------------------

bool World::deliver(std::uint32_t from, std::uint32_t to) {
  Node& node = (*this)[to];
  if (from == to || !node.up || node.paused) return false;
  if (node.peers[NodeId{from}].incoming.empty()) return false;
  take_item(node, NodeId{from});
  return true;
}

void World::take_item(Node& node, NodeId from) {
  auto& incoming = node.peers[from].incoming;
  const Item item = std::move(incoming.front().item);
  incoming.pop_front();
  std::visit([&](const auto& what) { take_item(node, from, what); }, item);
}

void World::take_item(Node& node, NodeId, const Letter& letter) {
  if (is_answer(letter)) {
    const auto call = node.calls.find(letter.call);
    if (call == node.calls.end() || call->second.letter.to != letter.from) return;  // given up
    node.calls.erase(call);
  }
  take(node, Received{letter});
}

void World::take_item(Node& node, NodeId from, const SessionBegins& begins) {
  node.peers[from].with = begins.life;
  for (auto& [number, call] : node.calls)
    if (call.letter.to == from) transmit(node, call);
}

void World::take_item(Node& node, NodeId from, const SessionEnds&) {
  const auto life = node.peers[from].with;
  std::set<CallNumber> unanswered;
  for (auto& [number, call] : node.calls)
    if (life && call.letter.to == from && life_called(call.letter) == life)
      unanswered.insert(number);
  session_over(node, from, unanswered);
}

void World::take_item(Node& node, NodeId from, const Refusal& refusal) {
  session_over(node, from, refusal.calls);
}

// First Failed, then Unanswered for each of the calls, before anything else from that peer.
void World::session_over(Node& node, NodeId peer, const std::set<CallNumber>& unanswered) {
  Peer& view = node.peers[peer];
  for (auto call = unanswered.rbegin(); call != unanswered.rend(); ++call)
    view.incoming.push_front({Unanswered{peer, *call}, ++order_});
  if (view.with) view.incoming.push_front({Failed{peer, *view.with}, ++order_});
  view.with.reset();
  if (!view.incoming.empty()) take_item(node, peer);
}

void World::take_item(Node& node, NodeId from, const Silence& silence) {
  take_item(node, from, Unanswered{from, silence.call});
}

void World::take_item(Node& node, NodeId, const Failed& failed) {
  take(node, failed);
}

void World::take_item(Node& node, NodeId, const Unanswered& unanswered) {
  if (node.calls.erase(unanswered.call) > 0) take(node, unanswered);
}

// --- By itself
// ----------------------------------------------------------------------------------------

void World::connect_where_needed() {
  for (const Node& node : nodes_) {
    if (!node.up || node.paused) continue;
    const std::uint32_t self = node.config.self.value;
    for (std::uint32_t other = 1; other <= size(); ++other) {
      if (other == self) continue;
      const auto peer = node.peers.find(NodeId{other});
      const bool joined = peer != node.peers.end() && peer->second.with;
      const bool calls = std::any_of(node.calls.begin(), node.calls.end(), [&](const auto& call) {
        return call.second.letter.to.value == other && !call.second.given_up;
      });
      if (!joined && !calls) continue;
      if ((*this)[other].up)
        connect(self, other);
      else
        refuse(self, other);
    }
  }
}

bool World::run_once() {
  connect_where_needed();
  std::uint64_t oldest = UINT64_MAX;
  Node* next = nullptr;
  NodeId from;
  for (Node& node : nodes_) {
    if (!node.up || node.paused) continue;
    const TestApplication& application = node.application;
    const bool hook = (application.running || application.stopping) && !node.hold_hooks;
    if (hook && application.order < oldest) {
      oldest = application.order;
      next = &node;
      from = node.config.self;
    }
    for (const auto& [peer, view] : node.peers) {
      if (view.incoming.empty() || view.incoming.front().order >= oldest) continue;
      oldest = view.incoming.front().order;
      next = &node;
      from = peer;
    }
  }
  if (!next) return false;
  if (from == next->config.self)
    end_hook(from.value);
  else
    take_item(*next, from);
  return true;
}

void World::run_until_quiet() {
  for (int items = 0; run_once(); ++items)
    if (items > 100'000) throw Violation("the nodes never become quiet");
}

bool World::advance() {
  run_until_quiet();
  std::optional<Duration> first;
  std::uint32_t who = 0;
  std::optional<Timer> timer;
  std::uint32_t silent = 0;
  const auto offer = [&](Duration due, std::uint32_t node, std::optional<Timer> t,
                         std::uint32_t of) {
    if (first && *first <= due) return;
    first = due;
    who = node;
    timer = t;
    silent = of;
  };
  for (const Node& node : nodes_) {
    const std::uint32_t self = node.config.self.value;
    if (!node.up && node.returns) offer(*node.returns, self, std::nullopt, 0);
    if (!node.up || node.paused) continue;
    for (const auto& [armed, due] : node.timers) offer(due, self, armed, 0);
    for (const auto& [number, call] : node.calls)
      if (!call.given_up && !can_be_answered(node, call))
        offer(call.due, self, std::nullopt, call.letter.to.value);
  }
  if (!first) return false;
  now = std::max(now, *first);
  if (timer)
    expire(who, *timer);
  else if (silent != 0)
    silence(who, silent);
  else
    recover(who);
  run_until_quiet();
  return true;
}

bool World::settle(unsigned turns) {
  run_until_quiet();
  const unsigned enough = 4 * size() + 8;
  for (unsigned held = 0; turns > 0; --turns) {
    held = reorganized() && quiet() ? held + 1 : 0;
    if (held == 1) settled_at = now;
    if (held == enough) return true;
    if (!advance()) return reorganized();
  }
  return false;
}

}  // namespace muster::test
