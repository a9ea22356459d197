// Calls and answers, and the letters of a session that carry them. A letter is numbered and kept
// until it is acknowledged. After a connection has broken, the letter is sent again on the next
// one, so each letter arrives once and in order (assumption 7).

#include "session_turn.hpp"

namespace muster::host {

// --- Outgoing calls and answers

void SessionTurn::on_input(SendLetter& input) {
  const bool can_be_sent = fits(input.size);
  if (!can_be_sent) {
    warn("size", "a letter of " + std::to_string(input.size) +
                     " bytes is larger than a frame, and was not sent");
  }
  if (!is_answer(input.letter)) return make_call(input, can_be_sent);
  const auto peer = sessions_.peers.find(input.letter.to);
  if (can_be_sent && peer != sessions_.peers.end()) answer(peer->second, input);
}

void SessionTurn::make_call(SendLetter& input, bool can_be_sent) {
  const CallNumber number = input.letter.call;
  const auto peer = sessions_.peers.find(input.letter.to);
  Call call;
  call.life = life_called(input.letter);
  call.size = input.size;
  if (input.bound) {
    call.deadline = now_ + *input.bound;
    due_by(*call.deadline);
  }
  call.letter = std::move(input.letter);
  const bool is_new = sessions_.calls.emplace(number, std::move(call)).second;
  if (!is_new) return;
  if (peer == sessions_.peers.end() || !can_be_sent) return unanswered(number);
  call_made(peer->second, number);
}

void SessionTurn::call_made(Peer& peer, CallNumber number) {
  const Call& call = sessions_.calls.at(number);
  const NodeId node = call.letter.to;
  if (call.life) {
    const bool other = peer.session ? is_to_another_life(call, peer.session->life)
                                    : *call.life < peer.seen || *call.life == peer.over;
    if (other) return unanswered(number);
  }
  if (peer.session) push(node, *peer.session, number, call);
  if (std::holds_alternative<Connected>(peer.touch)) return write_letters(peer);
  // The machine may have refused a dial that is under way before this call was made. That refusal
  // proves nothing for this call, so the call gets a dial of its own.
  const bool waits = std::holds_alternative<Waiting>(peer.touch);
  if (!in_touch(peer) && !(peer.unwelcome && waits)) dial(node, peer);
}

void SessionTurn::push(NodeId node, Session& session, CallNumber number, const Call& call) {
  if (host::push(session, {0, number, std::nullopt, call.size}, sessions_.calls, config_.limits))
    return;
  ++sessions_.counters.dropped;
  warn("queue of " + name_of(node),
       name_of(node) + " accepts no more letters: new letters to it are dropped");
}

void SessionTurn::unanswered(CallNumber number, Unheard how) {
  const auto at = sessions_.calls.find(number);
  put(CallUnanswered{at->second.letter.to, number, how});
  sessions_.calls.erase(at);
}

// An answer goes to the life that made the call, or it is dropped.
void SessionTurn::answer(Peer& peer, SendLetter& input) {
  const CallNumber call = input.letter.call;
  if (!peer.session || !is_owed(*peer.session, call)) return;
  if (!host::push(*peer.session, {0, call, std::move(input.letter), input.size}, sessions_.calls,
                  config_.limits))
    ++sessions_.counters.dropped;
  write_letters(peer);
}

void SessionTurn::write_letters(Peer& peer) {
  auto* const connected = std::get_if<Connected>(&peer.touch);
  if (!connected || !peer.session) return;
  Session& session = *peer.session;
  for (; session.written < session.queue.size() && !connected->full; ++session.written) {
    const Queued& queued = session.queue[session.written];
    const Letter* letter = queued.answer ? &*queued.answer : nullptr;
    if (!letter) {
      const auto call = sessions_.calls.find(queued.call);
      if (call == sessions_.calls.end()) continue;  // the number of this letter is skipped
      call->second.written = true;
      letter = &call->second.letter;
    }
    write(connected->connection, Carried{queued.number, session.received, *letter});
    told(session);
    ++sessions_.counters.letters_out;
    if (queued.number <= session.highest_written) ++sessions_.counters.resent;
    session.highest_written = std::max(session.highest_written, queued.number);
    connected->written += queued.size;
    if (connected->written < enough_bytes) continue;
    connected->full = true;
    put(TellRoom{connected->connection});
  }
  forget_given_up(session, sessions_.calls);
  if (!connected->full && acknowledgement_due(session)) {
    write(connected->connection, Acknowledged{session.received});
    told(session);
  }
}

// --- Incoming letters

void SessionTurn::on_frame_in_session(NodeId node, Peer& peer, Came& came) {
  if (const auto* refusal = std::get_if<Refusal>(&came.frame)) {
    let_go(node, peer);
    return was_refused(node, peer, *refusal, false);
  }
  if (std::holds_alternative<Carried>(came.frame)) return on_letter(node, peer, came);
  const auto* acknowledgement = std::get_if<Acknowledged>(&came.frame);
  if (!acknowledgement)
    return misbehaved(node, peer, came.connection, "sent a frame that no session allows");
  if (!acknowledged(*peer.session, acknowledgement->number))
    return misbehaved(node, peer, came.connection, "acknowledged a letter that was never sent");
  peer.quick_dials = 0;
}

void SessionTurn::on_letter(NodeId node, Peer& peer, Came& came) {
  auto& carried = std::get<Carried>(came.frame);
  Letter& letter = carried.letter;
  Session& session = *peer.session;
  if (letter.from != node || letter.incarnation != session.life || letter.to != self().id)
    return misbehaved(node, peer, came.connection,
                      "sent a letter that is not from it, or not to this node");
  if (!repeats_its_envelope(letter))
    return misbehaved(node, peer, came.connection,
                      "sent a letter whose message contradicts its envelope: it names another "
                      "sender or receiver, or another life of one");
  if (!acknowledged(session, carried.acknowledged))
    return misbehaved(node, peer, came.connection, "acknowledged a letter that was never sent");
  if (!receive(session, carried.number, came.size) && takes_once()) {
    ++sessions_.counters.duplicates;
    return;
  }
  ++sessions_.counters.letters_in;
  peer.quick_dials = 0;
  peer.heard = true;
  if (peer.refuses_this_life) has_taken_this_life(node, peer);
  if (is_answer(letter)) {
    if (is_awaited(node, letter.call)) {
      sessions_.calls.erase(letter.call);
      put(LetterCame{std::move(letter), Instance{session.instance}});
    }
  } else {
    owe(session, letter.call);
    put(LetterCame{std::move(letter), Instance{session.instance}});
  }
  if (acknowledgement_due(session)) write_letters(peer);
}

// --- Beginning and end of a session

void SessionTurn::begin_session(NodeId node, Peer& peer, const Hello& hello) {
  peer.heard = hello.incarnation != peer.over;
  peer.session.emplace();
  peer.session->life = hello.incarnation;
  peer.session->instance = hello.instance;
  peer.session->peer_session = session_of(hello);
  peer.session->wire = common_wire(self().wire, wire_of(hello)).value();
  ++sessions_.counters.sessions;
  unanswered_where([&](const Call& call) {
    return call.letter.to == node && is_to_another_life(call, peer.session->life);
  });
  for (const auto& [number, call] : sessions_.calls)
    if (call.letter.to == node && !call.written) push(node, *peer.session, number, call);
}

// The life is proven to be over. Calls to that life are unanswered. Calls to the node are kept for
// its next life, because the paper's CALL is to a node (protocols/bully/findings.md, "The end of a
// life").
void SessionTurn::end_session(NodeId node, Peer& peer) {
  const Incarnation life = peer.session->life;
  // If the Hello of a life that is over is found after the proof, there is no new end to report.
  if (is_end_to_tell(peer)) put(LifeOver{node, life});
  peer.over = life;
  peer.session.reset();
  ++peer.session_count;
  for (auto& [number, call] : sessions_.calls)
    if (call.letter.to == node) call.written = false;
  unanswered_where(
      [&](const Call& call) { return call.letter.to == node && is_to_life_until(call, life); });
}

}  // namespace muster::host
