// What a Hello makes of a peer: whether it is taken, which life it proves to be over, and how the
// session goes on over the new connection.

#include "hello_check.hpp"
#include "session_turn.hpp"

#include <muster/values/text.hpp>

#include <algorithm>
#include <utility>

namespace muster::host {

namespace {

const std::string begin_anew =
    "; if its store was emptied or restored, --initialise begins it anew";

// Of a node that nobody has met, nothing more is believed than of another.
bool is_too_far_ahead(const Peer& peer, const Hello& hello) {
  return hello.incarnation.value > peer.seen.value + most_lives_ahead;
}

}  // namespace

// --- What others say of this life

Incarnation latest_life(const Voices& voices) {
  Incarnation latest;
  for (const auto& [voice, seen] : voices) latest = std::max(latest, seen);
  return latest;
}

std::optional<Incarnation> later_life(const Voices& voices, Incarnation own) {
  const auto others = std::count_if(voices.begin(), voices.end(),
                                    [own](const auto& voice) { return voice.second >= own; });
  return others < 2 ? std::nullopt : std::optional(latest_life(voices));
}

// --- What Hellos say

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

// A figure is believed after a Hello, and that after the instance that is known already.
Hello SessionTurn::hello_before_figure(NodeId node, const Hello& refused) {
  Hello hello = hello_to(node);
  if (refused.peer_instance == self().instance) hello.instance = self().instance;
  return hello;
}

std::optional<Refusal> SessionTurn::refuse_life(NodeId node, const Hello& hello) const {
  const Peer& peer = sessions_.peers.at(node);
  const std::string seen = std::to_string(peer.seen.value);
  const std::string said = std::to_string(hello.incarnation.value);
  if (is_outlived(peer, hello)) {
    return Refusal{RefusalReason::outlived,
                   name_of(node) + " says that it is incarnation " + said + ", but " + seen +
                       " was seen of it" + begin_anew,
                   peer.seen.value};
  }
  if (is_too_far_ahead(peer, hello)) {
    return Refusal{RefusalReason::stranger,
                   name_of(node) + " says that it is incarnation " + said + ", and " +
                       (peer.seen.value > 0 ? "no more than " + seen : "no other one") +
                       " was seen of it: no node begins so many lives meanwhile"};
  }
  if (is_clone(peer, hello)) {
    return Refusal{
        RefusalReason::clone,
        "two processes say that they are incarnation " + seen + " of " + name_of(node) + begin_anew,
        peer.seen.value};
  }
  return std::nullopt;
}

// A Hello that was said before the other side knew this life begins its first session with it.
std::uint64_t SessionTurn::session_of(const Hello& hello) const {
  return hello.peer_instance == self().instance ? hello.session : 1;
}

// --- A Hello is taken, or refused

// Who has dialled says it.
void SessionTurn::judge(const Greeted& greeted) {
  const auto stranger = stranger_at(greeted.connection);
  if (stranger == sessions_.strangers.end()) return;  // it has gone meanwhile
  const ConnectionId connection = greeted.connection;
  const Hello& hello = greeted.hello;
  const NodeId node = hello.from;
  Peer& peer = sessions_.peers.at(node);
  const auto refusal = refuse_life(node, hello);
  if (!refusal && is_to_be_heard_at_home(peer, hello)) return look_who_listens(node, peer);
  sessions_.strangers.erase(stranger);
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

// Whoever reaches this port may say that it is the next life of a node; who listens at the address
// of that node is dialled, and not for each who says so. A life that is told again and again to be
// over gets its letters in between; a life that comes has T to be heard.
void SessionTurn::look_who_listens(NodeId node, Peer& peer) {
  if (peer.looked_until) return;
  peer.doubted = true;
  peer.looked_until = now_ + config_.T / 8;
  due_by(*peer.looked_until);
  let_go(node, peer);
  dial(node, peer);
}

void SessionTurn::came_in_greeting(NodeId node, Peer& peer, Came& came) {
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

// Who was dialled says it.
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
  // Why it refuses this life comes next. Until then its own life is not judged: such a Hello need
  // not name its instance, and two that refuse each other for their lives both have to hear it.
  if (!refusal && hello.session == 0) {
    std::get<Greeting>(peer.touch).refusal_follows = true;
    return;
  }
  if (!refusal) refusal = refuse_life(node, hello);
  if (refusal) {
    ++sessions_.counters.refused_hellos;
    warn(name_of(node), "refused " + name_of(node) + ": " + refusal->text);
    write(connection, *refusal);
    let_go(node, peer);
    peer.greet = false;  // it has taken this life
    if (is_difference(refusal->reason)) met_one_that_differs(node, peer, refusal->text);
    peer.unwelcome = true;
    return dial_slowly(node, peer);
  }
  if (is_stale(peer, hello)) return misbehaved(node, peer, connection, "said an old Hello");
  take_life(node, peer, hello);
  establish(node, peer, connection, hello, false);
}

// Where the Hello is of a newer life, the one before is over.
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
  // The other side has ended the session: it took a refused connection for the end of this life, as
  // a firewall can make it. What it was told may have been done, and is not told again.
  if (peer.session && session_of(hello) > peer.session->peer_session) {
    peer.session.reset();
    if (accepted) ++peer.session_count;  // who was dialled knows the count of our Hello
  }
  if (!peer.session) begin_session(node, peer, hello);
  const bool same =
      hello.peer_instance == self().instance && hello.peer_session == peer.session_count;
  now_in_touch(node, peer, Connected{connection});
  const bool believable = reconnected(*peer.session, same ? hello.received : 0, sends_again());
  if (!believable)
    return misbehaved(node, peer, connection, "says that it received a letter that was never sent");
  peer.greet = false;
  peer.unwelcome = false;
  peer.slow_dials = 0;
  calm("cluster of " + name_of(node));
  if (accepted) {  // who has dialled may still refuse this life, as it has before
    if (!peer.refuses_this_life) no_longer_differs(node, peer);
    write(connection, own_hello(node, peer));
  } else {
    calm(name_of(node));
    has_taken_this_life(node, peer);
  }
  write_letters(peer);
}

// --- This life is taken, or refused

void SessionTurn::has_taken_this_life(NodeId node, Peer& peer) {
  sessions_.voices.erase(node);
  peer.refuses_this_life = false;
  no_longer_differs(node, peer);
}

// A refusal for this life counts where this node has dialled, and after a Hello for the same
// cluster: the other node differs. Whoever listens at that address may say both; so one figure is
// told, and no more (Voices). A figure that cannot be is not told, and the node differs all the
// same.
void SessionTurn::was_refused(NodeId node, Peer& peer, const Refusal& refusal,
                              bool by_whom_it_dialled) {
  if (refusal.reason == RefusalReason::crossing) return dial_quickly(node, peer);
  peer.unwelcome = true;
  warn(name_of(node), name_of(node) + " refuses this node: " + presentable(refusal.text, 300));
  if (refusal.reason == RefusalReason::outlived || refusal.reason == RefusalReason::clone) {
    peer.greet = true;  // to hear it there, or to hear that it does so no more
    if (by_whom_it_dialled) has_refused_this_life(node, peer, Incarnation{refusal.figure});
  }
  dial_slowly(node, peer);
}

void SessionTurn::has_refused_this_life(NodeId node, Peer& peer, Incarnation seen) {
  peer.refuses_this_life = true;
  if (seen >= self().incarnation && plausible(seen)) {
    sessions_.voices[node] = seen;
    put(OutlivedBy{sessions_.voices});
  }
  differs(node, peer, "the lives of this node, of which it has seen " + to_text(seen));
}

// An incarnation of this node that somebody has seen. One that this life cannot be close to is no
// figure of this cluster; a life that is the first of its store is close to none. Either leaves as
// many lives to come.
bool SessionTurn::plausible(Incarnation seen) const {
  const std::uint64_t own = self().incarnation.value;
  return seen.value <= (own == 1 ? highest_number - most_lives_ahead : own + most_lives_ahead);
}

}  // namespace muster::host
