// Nodes that are alive and cannot be spoken with: another configuration, wire version, or node.

#include "session_turn.hpp"

#include <muster/values/text.hpp>

namespace muster::host {

bool is_difference(RefusalReason reason) {
  return reason == RefusalReason::version || reason == RefusalReason::cluster ||
         reason == RefusalReason::stranger;
}

// It answers where this node has dialled it: so the life that the session was with listens there no
// more, and is over as if nobody did. It is dialled until it differs no more.
void SessionTurn::met_one_that_differs(NodeId node, Peer& peer, const std::string& what) {
  differs(node, peer, what);
  if (peer.session) end_session(node, peer);
  unanswered_where([&](const Call& call) { return is_refused_by(call, node); });
}

void SessionTurn::differs(NodeId node, Peer& peer, const std::string& what) {
  peer.differs = true;
  peer.greet = true;
  sessions_.differing.emplace(node, presentable(what, 300));
  tell_who_differs();
}

void SessionTurn::no_longer_differs(NodeId node, Peer& peer) {
  peer.differs = false;
  sessions_.differing.erase(node);
}

// Whoever dials this node may say any id, so the node of that id is dialled.
void SessionTurn::meet_one_that_says_so(const Hello& hello) {
  const auto at = sessions_.peers.find(hello.from);
  if (hello.role != Role::node || at == sessions_.peers.end()) return;
  auto& [node, peer] = *at;
  if (peer.session) return;
  peer.greet = true;
  if (!std::holds_alternative<Waiting>(peer.touch)) dial(node, peer);
}

// Who agrees is heard: a session stands with it, and it answers dials.
void SessionTurn::tell_who_differs() {
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
