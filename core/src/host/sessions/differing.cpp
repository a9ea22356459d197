// Nodes that are alive and cannot be spoken with: their configuration or wire version differs, or
// another node answers in their place.

#include "session_turn.hpp"

#include <muster/values/text.hpp>

namespace muster::host {

bool is_difference(RefusalReason reason) {
  return reason == RefusalReason::version || reason == RefusalReason::cluster ||
         reason == RefusalReason::stranger;
}

// A node that differs has answered a dial to its own address. So the life of the session no longer
// listens at that address. This life is over, as if the dial had been refused. The node is dialled
// until it no longer differs.
void SessionTurn::met_one_that_differs(NodeId node, Peer& peer, const std::string& what) {
  differs(node, peer, what);
  if (peer.session) end_session(node, peer);
  unanswered_where([&](const Call& call) { return is_refused_by(call, node); });
}

void SessionTurn::differs(NodeId node, Peer& peer, const std::string& what) {
  peer.differs = true;
  peer.greet = true;
  sessions_.differing.emplace(node, presentable(what, 300));
  tell_differing();
}

void SessionTurn::no_longer_differs(NodeId node, Peer& peer) {
  peer.differs = false;
  sessions_.differing.erase(node);
}

// A peer that has dialled this node can claim any id. So this node does not believe the claim, and
// dials the node with that id.
void SessionTurn::meet_one_that_says_so(const Hello& hello) {
  const auto at = sessions_.peers.find(hello.from);
  if (hello.role != Role::node || at == sessions_.peers.end()) return;
  auto& [node, peer] = *at;
  if (peer.session) return;
  peer.greet = true;
  if (!std::holds_alternative<Waiting>(peer.touch)) dial(node, peer);
}

// A node agrees if this node hears it: there is a session with that node, and that node answers
// dials.
void SessionTurn::tell_differing() {
  OthersDiffer now;
  for (const auto& [node, peer] : sessions_.peers) {
    if (peer.differs) now.differ.insert(node);
    if (!peer.differs && peer.session && peer.slow_dials == 0) now.agree.insert(node);
  }
  if (now.differ.empty()) now = {};
  if (now == sessions_.others) return;
  sessions_.others = now;
  put(std::move(now));
}

}  // namespace muster::host
