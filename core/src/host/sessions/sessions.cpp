// Inputs of the driver, and the verdicts that wait until the driver has read all that has arrived.

#include "session_turn.hpp"

#include <muster/values/ensure.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::host {

Sessions Sessions::begin(const SessionConfig& config, const SafeState& safe) {
  Sessions sessions;
  for (const auto& [node, address] : config.addresses) {
    Peer& peer = sessions.peers[node];
    if (const auto at = safe.seen.find(node); at != safe.seen.end()) peer.seen = at->second;
    if (const auto at = safe.instances.find(node); at != safe.instances.end())
      peer.instance = at->second.value;
  }
  return sessions;
}

void Sessions::take(const SessionConfig& config, Time now, SessionInput input,
                    SessionOutputs& outputs) {
  SessionTurn(config, *this, now, outputs).take(std::move(input));
}

void Sessions::keep_only(const std::function<bool(CallNumber)>& awaited) {
  std::erase_if(calls, [&](const auto& call) { return !awaited(call.first); });
}

std::map<NodeId, Incarnation> Sessions::lives() const {
  std::map<NodeId, Incarnation> lives;
  for (const auto& [node, peer] : peers)
    if (peer.session) lives.emplace(node, peer.session->life);
  return lives;
}

std::map<NodeId, std::uint8_t> Sessions::wire() const {
  std::map<NodeId, std::uint8_t> wire;
  for (const auto& [node, peer] : peers)
    if (peer.session) wire.emplace(node, peer.session->wire);
  return wire;
}

void SessionTurn::take(SessionInput input) {
  std::visit([this](auto& one) { on_input(one); }, input);
  if (!sessions_.others.differ.empty()) tell_differing();
  if (sessions_.verdicts.empty()) set_wake();
}

// --- Inputs

void SessionTurn::on_input(Greet&) {
  for (auto& [node, peer] : sessions_.peers) {
    if (in_touch(peer)) continue;
    peer.greet = true;
    dial(node, peer);
  }
}

void SessionTurn::on_input(Came& input) {
  if (const auto whose = sessions_.whose.find(input.connection); whose != sessions_.whose.end()) {
    const NodeId node = whose->second;
    Peer& peer = sessions_.peers.at(node);
    if (std::holds_alternative<Connected>(peer.touch))
      return on_frame_in_session(node, peer, input);
    return on_frame_in_greeting(node, peer, input);
  }
  const auto unknown_peer = unknown_peer_at(input.connection);
  if (unknown_peer != sessions_.unknown_peers.end()) on_frame_of_unknown_peer(unknown_peer, input);
}

void SessionTurn::on_input(Closed& input) {
  if (const auto whose = sessions_.whose.find(input.connection); whose != sessions_.whose.end()) {
    const NodeId node = whose->second;
    return on_connection_ended(node, sessions_.peers.at(node), input.end, input.why);
  }
  const auto unknown_peer = unknown_peer_at(input.connection);
  if (unknown_peer == sessions_.unknown_peers.end()) return;
  if (input.end != ConnectionEnd::finished) ++sessions_.counters.garbage;
  // One topic for all unauthenticated peers, because anybody can dial.
  if (input.end == ConnectionEnd::unproven || input.end == ConnectionEnd::refused)
    warn("proof",
         "closed a connection of " + unknown_peer->from + ": " + presentable(input.why, 300));
  sessions_.unknown_peers.erase(unknown_peer);
}

void SessionTurn::on_input(Writable& input) {
  if (const auto unknown_peer = unknown_peer_at(input.connection);
      unknown_peer != sessions_.unknown_peers.end())
    unknown_peer->asks = false;
  const auto whose = sessions_.whose.find(input.connection);
  if (whose == sessions_.whose.end()) return;
  Peer& peer = sessions_.peers.at(whose->second);
  auto* const connected = std::get_if<Connected>(&peer.touch);
  if (!connected) return;
  connected->full = false;
  connected->written = 0;
  write_letters(peer);
}

// --- Time

// A bound has passed. All frames that can be read now are read before a call counts as unanswered,
// or a peer as silent.
void SessionTurn::on_input(Due&) {
  sessions_.wake.reset();
  Drain drain;
  const auto silent = [&](NodeId node) {
    return std::any_of(sessions_.calls.begin(), sessions_.calls.end(), [&](const auto& one) {
      return one.second.letter.to == node && one.second.deadline && *one.second.deadline <= now_;
    });
  };
  for (auto& [node, peer] : sessions_.peers) {
    if (const auto* connected = std::get_if<Connected>(&peer.touch)) {
      if (silent(node)) drain.connections.push_back(connected->connection);
    } else if (const auto* greeting = std::get_if<Greeting>(&peer.touch)) {
      if (greeting->until <= now_ || silent(node))
        drain.connections.push_back(greeting->connection);
    } else if (const auto* waiting = std::get_if<Waiting>(&peer.touch);
               waiting && waiting->until <= now_) {
      now_in_touch(node, peer, Apart{});
      if (wanted(node, peer)) dial(node, peer);
    }
  }
  for (const UnknownPeer& unknown_peer : sessions_.unknown_peers)
    if (unknown_peer.until <= now_) drain.connections.push_back(unknown_peer.connection);
  if (!reads_before_silence()) drain = {};
  wait_for(Overdue{now_}, std::move(drain));
}

void SessionTurn::judge(const Overdue& overdue) {
  unanswered_where([&](const Call& call) { return call.deadline && *call.deadline <= overdue.at; });
  for (auto& [node, peer] : sessions_.peers) {
    if (peer.looked_until && *peer.looked_until <= overdue.at) peer.looked_until.reset();
    const auto* greeting = std::get_if<Greeting>(&peer.touch);
    if (!greeting || greeting->until > overdue.at) continue;
    let_go(node, peer);
    no_longer_differs(node, peer);
    dial_slowly(node, peer);
  }
  const UnknownPeers unknown_peers = sessions_.unknown_peers;
  for (const UnknownPeer& unknown_peer : unknown_peers) {
    if (unknown_peer.until > overdue.at) continue;
    if (!unknown_peer.observer) ++sessions_.counters.garbage;
    drop(unknown_peer_at(unknown_peer.connection));
  }
  find_soonest();
}

// When a Due has handled the deadlines that were over: finds the earliest of the rest.
void SessionTurn::find_soonest() {
  for (const auto& [number, call] : sessions_.calls)
    if (call.deadline) due_by(*call.deadline);
  for (const auto& [node, peer] : sessions_.peers) {
    if (const auto* waiting = std::get_if<Waiting>(&peer.touch)) due_by(waiting->until);
    if (const auto* greeting = std::get_if<Greeting>(&peer.touch)) due_by(greeting->until);
    if (peer.looked_until) due_by(*peer.looked_until);
  }
  for (const UnknownPeer& unknown_peer : sessions_.unknown_peers) due_by(unknown_peer.until);
}

// One timer serves all deadlines. The timer can expire although its deadline no longer matters.
void SessionTurn::set_wake() {
  const std::optional<Time> soonest = std::exchange(sessions_.soonest, std::nullopt);
  if (!soonest || (sessions_.wake && *sessions_.wake <= *soonest)) return;
  sessions_.wake = soonest;
  put(Wake{*soonest});
}

// --- Verdicts

void SessionTurn::wait_for(Verdict verdict, Drain drain) {
  sessions_.verdicts.push_back(std::move(verdict));
  if (drain.connections.empty() && !drain.listener) {
    Drained nothing_to_read;
    return on_input(nothing_to_read);
  }
  put(std::move(drain));
}

void SessionTurn::on_input(Drained&) {
  MUSTER_ENSURE(!sessions_.verdicts.empty());
  const Verdict verdict = std::move(sessions_.verdicts.back());
  sessions_.verdicts.pop_back();
  std::visit([this](const auto& one) { judge(one); }, verdict);
}

}  // namespace muster::host
