// Dialling a peer: at once if the dial can prove something, and otherwise with growing delays.

#include "session_turn.hpp"

#include <muster/values/text.hpp>

#include <algorithm>
#include <utility>

namespace muster::host {

using namespace std::chrono_literals;

namespace {

constexpr Duration first_quick_delay = 200us;
constexpr Duration longest_unwelcome_delay = 1s;
constexpr unsigned most_doublings = 16;

Duration doubled(Duration first, unsigned times, Duration most) {
  return std::min(first * (1 << std::min(times, most_doublings)), most);
}

}  // namespace

// A session needs a connection or a dial. Without either, the end of the session's life would never
// be proven. A call needs one too.
bool SessionTurn::wanted(NodeId node, const Peer& peer) const {
  return keeps_dialling(peer) || peer.greet || is_called(node);
}

bool SessionTurn::letters_wait(NodeId node, const Peer& peer) const {
  return is_called(node) || (peer.session && !peer.session->queue.empty());
}

bool SessionTurn::is_called(NodeId node) const {
  return std::any_of(sessions_.calls.begin(), sessions_.calls.end(),
                     [node](const auto& one) { return one.second.letter.to == node; });
}

void SessionTurn::dial(NodeId node, Peer& peer) {
  if (in_touch(peer)) return;
  now_in_touch(node, peer, Dialling{});
  for (auto& [number, call] : sessions_.calls)
    if (call.letter.to == node) call.before_dial = true;
  ++sessions_.counters.dialled;
  put(Dial{node});
}

void SessionTurn::on_input(Dialled& input) {
  Peer& peer = sessions_.peers.at(input.node);
  now_in_touch(input.node, peer, Greeting{input.connection, now_ + config_.T});
  write(input.connection, own_hello(input.node, peer));
}

void SessionTurn::on_input(DialFailed& input) {
  Peer& peer = sessions_.peers.at(input.node);
  now_in_touch(input.node, peer, Apart{});
  if (is_refusal(input.end)) {
    Drain hellos;
    hellos.listener = reads_hellos_before_refusal();
    for (const UnknownPeer& unknown_peer : sessions_.unknown_peers)
      if (hellos.listener) hellos.connections.push_back(unknown_peer.connection);
    return wait_for(NobodyListens{input.node}, std::move(hellos));
  }
  if (input.end == DialEnd::reset) return dial_quickly(input.node, peer);
  no_longer_differs(input.node, peer);
  dial_slowly(input.node, peer);
}

// Proof that a life is over: no process listens at the peer's address, and everything that its
// former connection brought has been read. The proof holds unless the Hello of a new life was found
// during that reading.
void SessionTurn::judge(const NobodyListens& refused) {
  const NodeId node = refused.node;
  Peer& peer = sessions_.peers.at(node);
  if (in_touch(peer)) return;
  // A peer that claims to be the node's next life waits for this dial.
  peer.greet = std::exchange(peer.doubted, false);
  peer.unwelcome = false;
  no_longer_differs(node, peer);
  peer.quick_dials = peer.slow_dials = 0;
  if (peer.session) end_session(node, peer);
  unanswered_where([&](const Call& call) { return is_refused_by(call, node); }, Unheard::refused);
  if (wanted(node, peer)) dial(node, peer);
}

void SessionTurn::dial_after(NodeId node, Peer& peer, Duration delay) {
  if (!wanted(node, peer)) return;
  if (delay == Duration::zero()) return dial(node, peer);
  now_in_touch(node, peer, Waiting{now_ + delay});
}

// The other machine answers, so the next dial may prove something: a dying process still accepts
// connections for a moment, and then its port refuses. The first redial is at once.
//
// While letters wait, the delay stays below T/64. A call has about T for its answer; if connections
// break again and again, many of them are tried in that time.
void SessionTurn::dial_quickly(NodeId node, Peer& peer) {
  const Duration most = letters_wait(node, peer) ? config_.T / 64 : config_.T / 4;
  const Duration delay = peer.quick_dials == 0
                             ? Duration::zero()
                             : doubled(first_quick_delay, peer.quick_dials - 1, most);
  ++peer.quick_dials;
  dial_after(node, peer, delay);
}

// The dial met silence, or a refusal that will last.
void SessionTurn::dial_slowly(NodeId node, Peer& peer) {
  const Duration most =
      peer.unwelcome ? std::max(config_.T, longest_unwelcome_delay) : config_.T / 2;
  dial_after(node, peer, doubled(config_.T / 8, peer.slow_dials++, most));
}

// --- The connection to a peer

void SessionTurn::now_in_touch(NodeId node, Peer& peer, const Touch& touch) {
  if (const auto before = connection_of(peer.touch)) sessions_.whose.erase(*before);
  peer.touch = touch;
  if (const auto connection = connection_of(peer.touch)) sessions_.whose.emplace(*connection, node);
  if (const auto* waiting = std::get_if<Waiting>(&peer.touch)) due_by(waiting->until);
  if (const auto* greeting = std::get_if<Greeting>(&peer.touch)) due_by(greeting->until);
}

void SessionTurn::let_go(NodeId node, Peer& peer) {
  if (std::holds_alternative<Dialling>(peer.touch)) put(GiveUp{node});
  if (const auto connection = connection_of(peer.touch)) close(*connection);
  now_in_touch(node, peer, Apart{});
}

void SessionTurn::misbehaved(NodeId node, Peer& peer, ConnectionId connection,
                             const std::string& what) {
  close(connection);
  on_connection_ended(node, peer, ConnectionEnd::garbage, what);
}

void SessionTurn::on_connection_ended(NodeId node, Peer& peer, ConnectionEnd end,
                                      const std::string& why) {
  if (end != ConnectionEnd::finished) {
    ++sessions_.counters.garbage;
    warn(name_of(node), name_of(node) + ": " + presentable(why, 300));
  }
  if (std::holds_alternative<Connected>(peer.touch)) ++sessions_.counters.broken;
  now_in_touch(node, peer, Apart{});
  if (end == ConnectionEnd::refused) met_one_that_differs(node, peer, why);
  if (end != ConnectionEnd::unproven && end != ConnectionEnd::refused)
    return dial_quickly(node, peer);
  peer.unwelcome = true;
  dial_slowly(node, peer);
}

}  // namespace muster::host
