// Hellos: whether one is accepted, which life it proves to be over, and how the session continues
// on the new connection.
//
// A Hello names the sender's incarnation and instance, its count of the session, and the number of
// the last letter that it has received. Its receiver does the following, in this order.
// - Refuse the Hello if its life is older than a life that was met (outlived), impossibly far
// ahead, or another process with the same incarnation (clone). If no life of the sender was met,
// its number may be far ahead where this node has dialled the sender's address.
// - If the sender claims to be the next life while the connection of the last life is still open,
// dial the node's address and believe the process that answers there. Any process can send such a
// Hello to this port.
// - Ignore it if a later Hello of the same life was accepted (stale).
// - Otherwise accept the life; a newer life ends the session with the former one. If this node's
// own dial to that node wins, refuse only the connection (crossing). Otherwise the session
// continues on the connection.

#include "hello_check.hpp"
#include "session_turn.hpp"

#include <muster/values/text.hpp>

#include <algorithm>
#include <utility>

namespace muster::host {

namespace {

const std::string initialize_hint =
    "; if its store was emptied or restored, start it once with --initialise";

// The limit also holds for a node that has never been met, if it dials: any process can dial.
//
// But a node may really have such a number. A lie that another node believed makes it go on above
// 2^20 (--initialise), and a node that has never met it has to hear of that somewhere. So at the
// address of a node that was never met, a high number is believed. Half of all numbers is the
// limit, because the node needs numbers for its next lives.
bool is_too_far_ahead(const Peer& peer, const Hello& hello, bool at_its_address) {
  const bool never_met = peer.seen == Incarnation{};
  if (never_met && at_its_address) return hello.incarnation.value > highest_number / 2;
  return hello.incarnation.value > peer.seen.value + most_lives_ahead;
}

}  // namespace

// --- Lives of this node that others have seen

Incarnation latest_life(const LifeClaims& life_claims) {
  Incarnation latest;
  for (const auto& [claimant, seen] : life_claims) latest = std::max(latest, seen);
  return latest;
}

std::optional<Incarnation> later_life(const LifeClaims& life_claims, Incarnation own) {
  const auto others = std::count_if(life_claims.begin(), life_claims.end(),
                                    [own](const auto& claim) { return claim.second >= own; });
  return others < 2 ? std::nullopt : std::optional(latest_life(life_claims));
}

// --- Writing Hellos

Hello hello_of(const Self& self, Role role, NodeId to) {
  Hello hello;
  hello.oldest_version = self.wire.oldest;
  hello.newest_version = self.wire.newest;
  hello.role = role;
  hello.cluster = self.cluster;
  hello.from = self.id;
  hello.to = to;
  hello.incarnation = self.incarnation;
  return hello;
}

Hello SessionTurn::hello_to(NodeId node) {
  Hello hello = hello_of(self(), Role::node, node);
  hello.number = ++sessions_.hellos;
  return hello;
}

Hello SessionTurn::own_hello(NodeId node, Peer& peer) {
  Hello hello = hello_to(node);
  hello.instance = self().instance;
  hello.peer_instance = peer.instance;
  hello.session = peer.session_count;
  if (peer.session) {
    hello.peer_session = peer.session->peer_session;
    hello.received = peer.session->received;
    told(*peer.session);
  }
  return hello;
}

// A figure in a refusal, which is an incarnation of the refused node, is believed only after a
// Hello. This Hello names the instance of this life only to a peer that knows it already, because a
// peer that knows it can continue the session.
Hello SessionTurn::hello_before_figure(NodeId node, const Hello& refused) {
  Hello hello = hello_to(node);
  if (refused.peer_instance == self().instance) hello.instance = self().instance;
  return hello;
}

std::optional<Refusal> SessionTurn::refuse_life(NodeId node, const Hello& hello,
                                                bool at_its_address) const {
  const Peer& peer = sessions_.peers.at(node);
  const std::string seen = std::to_string(peer.seen.value);
  const std::string said = std::to_string(hello.incarnation.value);
  if (is_outlived(peer, hello)) {
    return Refusal{RefusalReason::outlived,
                   name_of(node) + " says that it is incarnation " + said + ", but " + seen +
                       " was seen of it" + initialize_hint,
                   peer.seen.value};
  }
  if (is_too_far_ahead(peer, hello, at_its_address)) {
    return Refusal{RefusalReason::stranger,
                   name_of(node) + " says that it is incarnation " + said + ", and " +
                       (peer.seen.value > 0 ? "no more than " + seen : "no other one") +
                       " was seen of it: no node begins so many lives meanwhile"};
  }
  if (is_clone(peer, hello)) {
    return Refusal{RefusalReason::clone,
                   "two processes say that they are incarnation " + seen + " of " + name_of(node) +
                       initialize_hint,
                   peer.seen.value};
  }
  return std::nullopt;
}

// The number of the session that this Hello continues or begins. If the sender did not know this
// life, the session is its first one with this life.
std::uint64_t SessionTurn::session_of(const Hello& hello) const {
  return hello.peer_instance == self().instance ? hello.session : 1;
}

// --- Accepting and refusing a Hello

// Judges the Hello of a peer that has dialled this node.
void SessionTurn::judge(const Greeted& greeted) {
  const auto unknown_peer = unknown_peer_at(greeted.connection);
  if (unknown_peer == sessions_.unknown_peers.end()) return;  // it is gone
  const ConnectionId connection = greeted.connection;
  const Hello& hello = greeted.hello;
  const NodeId node = hello.from;
  Peer& peer = sessions_.peers.at(node);
  const auto refusal = refuse_life(node, hello, false);
  if (!refusal && is_to_be_heard_at_home(peer, hello)) return look_for_listener(node, peer);
  sessions_.unknown_peers.erase(unknown_peer);
  if (refusal) {
    ++sessions_.counters.refused_hellos;
    warn(name_of(node), "refused " + name_of(node) + ": " + refusal->text);
    if (refusal->figure > 0) write(connection, hello_before_figure(node, hello));
    write(connection, *refusal);
    close(connection);
    return meet_one_that_says_so(hello);  // it may refuse this life too
  }
  if (is_stale(peer, hello)) return close(connection);
  take_life(node, peer, hello);
  if (is_crossed(node, peer)) {
    ++sessions_.counters.refused_hellos;
    write(connection,
          Refusal{RefusalReason::crossing, "the connection that the higher id dialled stays"});
    return close(connection);
  }
  establish(node, peer, connection, hello, true);
}

// Any process that reaches this port can claim to be the next life of a node. So the node's own
// address is dialled, and the process that answers there is believed.
//
// This is done at most once in T/8, however many such claims arrive. Between two such dials, the
// life that is claimed to be over can go on exchanging letters. A real new life is still found
// early enough, since its calls have T for their answers.
void SessionTurn::look_for_listener(NodeId node, Peer& peer) {
  if (peer.looked_until) return;
  peer.doubted = true;
  peer.looked_until = now_ + config_.T / 8;
  due_by(*peer.looked_until);
  let_go(node, peer);
  dial(node, peer);
}

void SessionTurn::on_frame_in_greeting(NodeId node, Peer& peer, Came& came) {
  if (const auto* refusal = std::get_if<Refusal>(&came.frame)) {
    const bool refusal_follows = std::get<Greeting>(peer.touch).refusal_follows;
    let_go(node, peer);
    if (is_difference(refusal->reason)) met_one_that_differs(node, peer, refusal->text);
    return was_refused(node, peer, *refusal, refusal_follows);
  }
  if (const auto* hello = std::get_if<Hello>(&came.frame))
    return answered_hello(node, peer, *hello, came.by);
  misbehaved(node, peer, came.connection, "sent something before its Hello");
}

// Judges the Hello of a peer that this node has dialled.
void SessionTurn::answered_hello(NodeId node, Peer& peer, const Hello& hello,
                                 std::optional<NodeId> proven_by) {
  const ConnectionId connection = std::get<Greeting>(peer.touch).connection;
  std::optional<Refusal> refusal = refuse_speech(self(), hello, proven_by);
  if (!refusal && (hello.role != Role::node || hello.from != node)) {
    refusal = Refusal{RefusalReason::stranger, name_of(hello.from) + " answers at " +
                                                   config_.addresses.at(node) + ", where " +
                                                   name_of(node) + " should be"};
  }
  if (!refusal && hello.to != self().id) {
    refusal =
        Refusal{RefusalReason::stranger, name_of(node) + " says its Hello to " + name_of(hello.to) +
                                             ", and this is " + name_of(self().id)};
  }
  // The peer refuses this life, and its refusal follows this Hello. The peer's own life is not
  // judged before that, since such a Hello need not name its instance. And if two nodes refuse each
  // other's lives, each of them has to learn that the other refuses it.
  if (!refusal && hello.session == 0) {
    std::get<Greeting>(peer.touch).refusal_follows = true;
    return;
  }
  if (!refusal) refusal = refuse_life(node, hello, true);
  if (refusal) {
    ++sessions_.counters.refused_hellos;
    warn(name_of(node), "refused " + name_of(node) + ": " + refusal->text);
    write(connection, *refusal);
    let_go(node, peer);
    peer.greet = false;  // the peer has accepted this life
    if (is_difference(refusal->reason)) met_one_that_differs(node, peer, refusal->text);
    peer.unwelcome = true;
    return dial_slowly(node, peer);
  }
  if (is_stale(peer, hello)) return misbehaved(node, peer, connection, "sent an old Hello");
  take_life(node, peer, hello);
  establish(node, peer, connection, hello, false);
}

// Accepts the life that a Hello names. If this life is newer than the life of the session, the life
// of the session is over.
void SessionTurn::take_life(NodeId node, Peer& peer, const Hello& hello) {
  if (is_of_next_life(peer, hello)) {
    if (std::holds_alternative<Connected>(peer.touch)) let_go(node, peer);
    end_session(node, peer);
    peer.looked_until.reset();
  }
  if (hello.incarnation > peer.seen) {
    const Incarnation before{hello.incarnation.value - 1};
    unanswered_where(
        [&](const Call& call) { return call.letter.to == node && is_to_life_until(call, before); });
  }
  if (peer.instance != hello.instance) peer.session_count = 1;
  peer.seen = hello.incarnation;
  peer.instance = hello.instance;
  peer.last_hello = hello.number;
}

void SessionTurn::establish(NodeId node, Peer& peer, ConnectionId connection, const Hello& hello,
                            bool accepted) {
  if (accepted) let_go(node, peer);
  peer.doubted = false;
  // The other side has ended the session, because it took a refused connection for the end of this
  // life. A firewall that refuses connections can cause this mistake. The letters that the other
  // side had received may have had effects, so they are not sent again.
  if (peer.session && session_of(hello) > peer.session->peer_session) {
    peer.session.reset();
    if (accepted) ++peer.session_count;  // a dialled peer knows this node's count from its Hello
  }
  if (!peer.session) begin_session(node, peer, hello);
  const bool same =
      hello.peer_instance == self().instance && hello.peer_session == peer.session_count;
  now_in_touch(node, peer, Connected{connection});
  const bool believable = reconnected(*peer.session, same ? hello.received : 0, sends_again());
  if (!believable)
    return misbehaved(node, peer, connection, "acknowledged a letter that was never sent");
  peer.greet = false;
  peer.unwelcome = false;
  peer.slow_dials = 0;
  calm("cluster of " + name_of(node));
  if (accepted) {  // a peer that has dialled may still refuse this life
    if (!peer.refuses_this_life) no_longer_differs(node, peer);
    write(connection, own_hello(node, peer));
  } else {
    calm(name_of(node));
    has_taken_this_life(node, peer);
  }
  write_letters(peer);
}

// --- This life is accepted or refused

void SessionTurn::has_taken_this_life(NodeId node, Peer& peer) {
  sessions_.life_claims.erase(node);
  peer.refuses_this_life = false;
  no_longer_differs(node, peer);
}

// A refusal of this life counts only if this node has dialled, and after a Hello of the same
// cluster. Then the other node differs. A process that has taken over that node's address could
// send both, so its figure is passed on as the claim of that one node only (LifeClaims). An
// implausible figure is not passed on, but the node differs nevertheless.
void SessionTurn::was_refused(NodeId node, Peer& peer, const Refusal& refusal, bool dialler_of) {
  if (refusal.reason == RefusalReason::crossing) return dial_quickly(node, peer);
  peer.unwelcome = true;
  warn(name_of(node), name_of(node) + " refuses this node: " + presentable(refusal.text, 300));
  if (refusal.reason == RefusalReason::outlived || refusal.reason == RefusalReason::clone) {
    peer.greet = true;  // to learn whether the peer still refuses this life
    if (dialler_of) has_refused_this_life(node, peer, Incarnation{refusal.figure});
  }
  dial_slowly(node, peer);
}

void SessionTurn::has_refused_this_life(NodeId node, Peer& peer, Incarnation seen) {
  peer.refuses_this_life = true;
  if (seen >= self().incarnation && plausible(seen)) {
    sessions_.life_claims[node] = seen;
    put(OutlivedBy{sessions_.life_claims});
  }
  differs(node, peer, "the lives of this node: it has already seen incarnation " + to_text(seen));
}

// True if `seen` can be an incarnation of this node. Such an incarnation must be near this life's
// number. The first life of a store cannot tell which numbers are near, and accepts any number. In
// both cases enough numbers are left for lives to come.
bool SessionTurn::plausible(Incarnation seen) const {
  const std::uint64_t own = self().incarnation.value;
  return seen.value <= (own == 1 ? highest_number - most_lives_ahead : own + most_lives_ahead);
}

}  // namespace muster::host
