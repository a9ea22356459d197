// The lines of the sessions that the lab can strike: one predicate for each, under the name of its
// line.

#include "session_turn.hpp"

#include <algorithm>

namespace muster::host {

bool SessionTurn::stands(SessionLine line) const {
  const StruckSessionLines& struck = config_.struck;
  return struck.empty() || std::find(struck.begin(), struck.end(), line) == struck.end();
}

// --- Hellos

bool SessionTurn::is_outlived(const Peer& peer, const Hello& hello) const {
  return hello.incarnation < peer.seen && stands(SessionLine::outlived_test);
}

bool SessionTurn::is_clone(const Peer& peer, const Hello& hello) const {
  return hello.incarnation == peer.seen && peer.instance != 0 && hello.instance != peer.instance &&
         stands(SessionLine::clone_test);
}

// True if a later Hello of the same life has been accepted already.
bool SessionTurn::is_stale(const Peer& peer, const Hello& hello) const {
  if (hello.instance != peer.instance || !stands(SessionLine::stale_test)) return false;
  return hello.number <= peer.last_hello ||
         (peer.session && session_of(hello) < peer.session->peer_session);
}

// This node and the peer have dialled each other at the same moment. The connection of the higher
// id stays, so the higher node refuses the lower one's Hello. The higher node refuses only once. If
// the lower node dials again, it has not received the higher one's Hello, perhaps because its
// machine had stopped.
bool SessionTurn::is_crossed(NodeId node, Peer& peer) const {
  auto* const greeting = std::get_if<Greeting>(&peer.touch);
  if (!greeting || self().id < node || !stands(SessionLine::crossing_test)) return false;
  return !std::exchange(greeting->has_crossed, stands(SessionLine::crossing_refused_once));
}

bool SessionTurn::is_of_next_life(const Peer& peer, const Hello& hello) const {
  return peer.session && peer.session->instance != hello.instance &&
         stands(SessionLine::new_life_ends_old);
}

// True if the connection of the last life is still open. The connection of a dead process is
// closed, so a real next life is not delayed. If dials find only silence, the claim is believed: a
// firewall may let only the other side's connections through.
bool SessionTurn::is_to_be_heard_at_home(const Peer& peer, const Hello& hello) const {
  const bool stands_yet = peer.doubted || std::holds_alternative<Connected>(peer.touch);
  return is_of_next_life(peer, hello) && stands_yet && peer.slow_dials == 0 &&
         stands(SessionLine::new_life_heard_at_home);
}

// --- Reading before a verdict

bool SessionTurn::reads_before_new_life() const {
  return stands(SessionLine::read_before_new_life);
}

bool SessionTurn::reads_before_silence() const {
  return stands(SessionLine::read_before_silence);
}

bool SessionTurn::reads_hellos_before_refusal() const {
  return stands(SessionLine::hellos_before_refusal);
}

// --- Dials

bool SessionTurn::is_refused_by(const Call& call, NodeId node) const {
  return call.letter.to == node && (call.before_dial || !stands(SessionLine::call_before_dial));
}

bool SessionTurn::is_refusal(DialEnd end) const {
  switch (end) {
    case DialEnd::refused:
      return config_.limits.proofs;
    case DialEnd::reset:
      return !stands(SessionLine::reset_proves_nothing);
    case DialEnd::silence:
      return !stands(SessionLine::silence_proves_nothing);
  }
  return false;
}

bool SessionTurn::keeps_dialling(const Peer& peer) const {
  return peer.session && stands(SessionLine::session_keeps_dialling);
}

// --- Letters

bool SessionTurn::sends_again() const {
  return stands(SessionLine::letters_again);
}

bool SessionTurn::takes_once() const {
  return stands(SessionLine::letters_once);
}

bool SessionTurn::is_to_another_life(const Call& call, Incarnation life) const {
  return call.life && *call.life != life && stands(SessionLine::calls_to_their_life);
}

bool SessionTurn::is_to_life_until(const Call& call, Incarnation last) const {
  return call.life && *call.life <= last && stands(SessionLine::calls_to_their_life);
}

bool SessionTurn::is_owed(Session& session, CallNumber call) const {
  return take_owed(session, call) || !stands(SessionLine::answers_to_their_life);
}

bool SessionTurn::is_awaited(NodeId node, CallNumber number) const {
  const auto call = sessions_.calls.find(number);
  return (call != sessions_.calls.end() && call->second.letter.to == node) ||
         !stands(SessionLine::answers_awaited);
}

bool SessionTurn::is_end_to_tell(const Peer& peer) const {
  return peer.heard || !stands(SessionLine::one_end_of_a_life);
}

}  // namespace muster::host
