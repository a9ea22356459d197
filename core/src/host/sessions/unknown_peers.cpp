// Peers that have connected, before their Hello is accepted. The Hello of a node is judged in
// hello.cpp; this file answers observers.

#include "hello_check.hpp"
#include "session_turn.hpp"

#include <muster/values/address.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace muster::host {

// Connections are rate-limited per machine, so a flood uses up only its sender's quota. Machines
// beyond the 256th share one quota.
bool Sessions::admits(const SessionConfig& config, Time now, const std::string& machine) {
  constexpr Duration within = std::chrono::milliseconds(100);
  constexpr std::size_t most_machines = 256;
  if (arrivals.size() > most_machines / 2)
    std::erase_if(arrivals, [&](const auto& of) { return now - of.second.since >= within; });
  const bool known = arrivals.contains(machine) || arrivals.size() < most_machines;
  Arrivals& of = arrivals[known ? machine : ""];
  if (now - of.since >= within) of = {now, 0};
  if (++of.count <= config.limits.arrivals) return true;
  ++counters.crowded;
  return false;
}

void SessionTurn::on_input(Accepted& input) {
  ++sessions_.counters.accepted;
  const bool beside_a_node = is_machine_of_a_node(input.from);
  sessions_.unknown_peers.push_back(
      {input.connection, now_ + hello_deadline(), std::move(input.from), beside_a_node});
  due_by(sessions_.unknown_peers.back().until);
  make_room(false, config_.limits.unknown_peers);
}

// Connections of the cluster's nodes are kept; all others are closed.
void SessionTurn::on_input(Exhausted&) {
  warn("descriptors", "no file descriptor is left for connections: raise the limit (ulimit -n)");
  make_room(false, 0);
  make_room(true, 0);
}

// Peers on the machine of a configured node are dropped last. Among the others, the machine with
// the most connections loses its oldest one. An honest peer has sent its Hello before its
// connection is the oldest one, and no machine can use up the places of another machine.
void SessionTurn::make_room(bool observers, std::size_t most) {
  const auto is_one = [&](const UnknownPeer& unknown_peer) {
    return unknown_peer.observer == observers;
  };
  UnknownPeers& unknown_peers = sessions_.unknown_peers;
  auto count =
      static_cast<std::size_t>(std::count_if(unknown_peers.begin(), unknown_peers.end(), is_one));
  for (; count > most; --count) {
    std::map<std::string_view, std::size_t> of_machine;
    for (const UnknownPeer& unknown_peer : unknown_peers)
      if (is_one(unknown_peer)) ++of_machine[unknown_peer.from];
    const auto weight = [&](const UnknownPeer& unknown_peer) {
      return std::tuple(is_one(unknown_peer), !unknown_peer.beside_a_node,
                        of_machine[unknown_peer.from]);
    };
    ++sessions_.counters.crowded;
    drop(std::max_element(unknown_peers.begin(), unknown_peers.end(),
                          [&](auto& one, auto& other) { return weight(one) < weight(other); }));
  }
}

bool SessionTurn::is_machine_of_a_node(std::string_view machine) const {
  return std::any_of(config_.addresses.begin(), config_.addresses.end(), [&](const auto& address) {
    const auto parsed = parse_address(address.second);
    return parsed && parsed->host == machine;
  });
}

void SessionTurn::drop(UnknownPeers::iterator unknown_peer) {
  close(unknown_peer->connection);
  sessions_.unknown_peers.erase(unknown_peer);
}

SessionTurn::UnknownPeers::iterator SessionTurn::unknown_peer_at(ConnectionId connection) {
  return std::find_if(
      sessions_.unknown_peers.begin(), sessions_.unknown_peers.end(),
      [&](const UnknownPeer& unknown_peer) { return unknown_peer.connection == connection; });
}

bool SessionTurn::has_said_hello(ConnectionId connection) const {
  return std::any_of(sessions_.verdicts.begin(), sessions_.verdicts.end(),
                     [&](const Verdict& verdict) {
                       const auto* greeted = std::get_if<Greeted>(&verdict);
                       return greeted && greeted->connection == connection;
                     });
}

void SessionTurn::on_frame_of_unknown_peer(UnknownPeers::iterator unknown_peer, const Came& came) {
  const Frame& frame = came.frame;
  const auto* hello = std::get_if<Hello>(&frame);
  if (hello && !unknown_peer->observer && !has_said_hello(unknown_peer->connection))
    return heard(unknown_peer->connection, *hello, came.by);
  // One question at a time. If a peer does not read its answers, they take memory.
  if (unknown_peer->observer && !unknown_peer->asks &&
      std::holds_alternative<StatusQuestion>(frame)) {
    unknown_peer->asks = true;
    put(TellStatus{unknown_peer->connection});
    return put(TellRoom{unknown_peer->connection});
  }
  ++sessions_.counters.garbage;
  drop(unknown_peer);
}

void SessionTurn::heard(ConnectionId connection, const Hello& hello,
                        std::optional<NodeId> proven_by) {
  if (const auto refusal = refuse_speech(self(), hello, proven_by)) {
    if (refusal->reason == RefusalReason::cluster) tell_difference(hello);
    refuse_unknown_peer(connection, *refusal, hello.from);
    return meet_one_that_says_so(hello);
  }
  if (const auto refusal = refuse_namesake(hello))
    return refuse_unknown_peer(connection, *refusal, hello.from);
  if (hello.role == Role::observer) {
    make_room(true, config_.limits.observers - 1);  // the new observer may be the oldest connection
    UnknownPeer& observer = *unknown_peer_at(connection);
    observer.observer = true;
    observer.until = now_ + hello_deadline();
    due_by(observer.until);
    return write(connection, hello_to(NodeId{}));
  }
  if (hello.to != self().id) {
    return refuse_unknown_peer(
        connection,
        {RefusalReason::stranger,
         "this is " + name_of(self().id) + ", not " + name_of(hello.to) + ", which was dialled"},
        hello.from);
  }
  if (hello.role == Role::asker) {
    sessions_.unknown_peers.erase(unknown_peer_at(connection));
    write(connection, hello_to(hello.from));
    return put(HandOver{connection, hello});
  }
  const auto peer = sessions_.peers.find(hello.from);
  if (peer == sessions_.peers.end()) {
    return refuse_unknown_peer(
        connection, {RefusalReason::stranger, "the cluster has no " + name_of(hello.from)},
        hello.from);
  }
  // The peer may be gone already. And the letters of the node's former life count, even if they
  // arrived behind a Hello that has not been read.
  Drain drain{{connection}};
  const auto& session = peer->second.session;
  const auto before = connection_of(peer->second.touch);
  if (before && session && session->instance != hello.instance && reads_before_new_life())
    drain.connections.push_back(*before);
  wait_for(Greeted{connection, hello}, std::move(drain));
}

// Logs the keys in which the clusters differ. The refused peer learns these keys when this node
// dials it: the peer compares the Hello that it gets.
void SessionTurn::tell_difference(const Hello& hello) {
  const bool is_member = hello.role == Role::node && sessions_.peers.contains(hello.from);
  const std::string name = hello.from == NodeId{} ? "an observer" : name_of(hello.from);
  // One topic for all unauthenticated peers, because anybody can claim any id.
  warn_of(is_member ? "cluster of " + name : "Hello", [&] {
    const std::string keys = differing_keys(self(), hello);
    if (is_member) sessions_.differing[hello.from] = keys;
    return "refused " + name + ": the clusters differ in " + keys;
  });
}

// The peer claims this node's own id, and belongs to its cluster. This node only reports that,
// because a process that answers at the address of a node that is down can make this claim too.
std::optional<Refusal> SessionTurn::refuse_namesake(const Hello& hello) const {
  if (hello.role != Role::node || hello.from != self().id) return std::nullopt;
  const std::string name = name_of(self().id);
  if (hello.instance == self().instance) {
    return Refusal{RefusalReason::oneself, name + " has dialled itself: the address of " +
                                               name_of(hello.to) + " is its own"};
  }
  if (hello.incarnation > self().incarnation) {
    return Refusal{RefusalReason::clone, "another process says that it is a later life of " + name};
  }
  return Refusal{RefusalReason::clone, "two processes say that they are " + name};
}

void SessionTurn::refuse_unknown_peer(ConnectionId connection, const Refusal& refusal, NodeId who) {
  ++sessions_.counters.refused_hellos;
  if (refusal.reason != RefusalReason::cluster)  // tell_difference has logged more
    warn("Hello",
         "refused " + (who == NodeId{} ? "an observer" : name_of(who)) + ": " + refusal.text);
  write(connection, refusal);
  drop(unknown_peer_at(connection));
}

}  // namespace muster::host
