// Who was accepted, until it has said who it is. Nodes are handed on with their Hello; observers
// are answered here.

#include "hello_check.hpp"
#include "session_turn.hpp"

#include <muster/values/address.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace muster::host {

// Who floods this node takes its own turns and nobody else's; of more machines than can be told
// apart all count as one.
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

void SessionTurn::happened(Accepted& input) {
  ++sessions_.counters.accepted;
  const bool beside_a_node = is_machine_of_a_node(input.from);
  sessions_.strangers.push_back(
      {input.connection, now_ + hello_deadline(), std::move(input.from), beside_a_node});
  due_by(sessions_.strangers.back().until);
  make_room(false, config_.limits.strangers);
}

// Connections of the cluster's nodes are kept, all others go.
void SessionTurn::happened(Exhausted&) {
  warn("descriptors", "no file descriptor is left for connections: raise the limit (ulimit -n)");
  make_room(false, 0);
  make_room(true, 0);
}

// Who is on the machine of a node stays longest; of the others the machine that has most of them
// gives up its oldest: who means well has said Hello by then, and no machine takes another's place.
void SessionTurn::make_room(bool observers, std::size_t most) {
  const auto is_one = [&](const Stranger& stranger) { return stranger.observer == observers; };
  Strangers& strangers = sessions_.strangers;
  auto count = static_cast<std::size_t>(std::count_if(strangers.begin(), strangers.end(), is_one));
  for (; count > most; --count) {
    std::map<std::string_view, std::size_t> of_machine;
    for (const Stranger& stranger : strangers)
      if (is_one(stranger)) ++of_machine[stranger.from];
    const auto weight = [&](const Stranger& stranger) {
      return std::tuple(is_one(stranger), !stranger.beside_a_node, of_machine[stranger.from]);
    };
    ++sessions_.counters.crowded;
    drop(std::max_element(strangers.begin(), strangers.end(),
                          [&](auto& one, auto& other) { return weight(one) < weight(other); }));
  }
}

bool SessionTurn::is_machine_of_a_node(std::string_view machine) const {
  return std::any_of(config_.addresses.begin(), config_.addresses.end(), [&](const auto& address) {
    const auto parsed = parse_address(address.second);
    return parsed && parsed->host == machine;
  });
}

void SessionTurn::drop(Strangers::iterator stranger) {
  close(stranger->connection);
  sessions_.strangers.erase(stranger);
}

SessionTurn::Strangers::iterator SessionTurn::stranger_at(ConnectionId connection) {
  return std::find_if(sessions_.strangers.begin(), sessions_.strangers.end(),
                      [&](const Stranger& stranger) { return stranger.connection == connection; });
}

bool SessionTurn::has_said_hello(ConnectionId connection) const {
  return std::any_of(sessions_.verdicts.begin(), sessions_.verdicts.end(),
                     [&](const Verdict& verdict) {
                       const auto* greeted = std::get_if<Greeted>(&verdict);
                       return greeted && greeted->connection == connection;
                     });
}

void SessionTurn::came_from_stranger(Strangers::iterator stranger, const Came& came) {
  const Frame& frame = came.frame;
  const auto* hello = std::get_if<Hello>(&frame);
  if (hello && !stranger->observer && !has_said_hello(stranger->connection))
    return heard(stranger->connection, *hello, came.by);
  // One question at a time: answers that wait for who does not read would take memory.
  if (stranger->observer && !stranger->asks && std::holds_alternative<StatusQuestion>(frame)) {
    stranger->asks = true;
    put(TellStatus{stranger->connection});
    return put(TellRoom{stranger->connection});
  }
  ++sessions_.counters.garbage;
  drop(stranger);
}

void SessionTurn::heard(ConnectionId connection, const Hello& hello,
                        std::optional<NodeId> proven_by) {
  if (const auto refusal = refuse_speech(self(), hello, proven_by)) {
    if (refusal->reason == RefusalReason::cluster) tell_difference(hello);
    refuse_stranger(connection, *refusal, hello.from);
    return meet_one_that_says_so(hello);
  }
  if (const auto refusal = refuse_namesake(hello))
    return refuse_stranger(connection, *refusal, hello.from);
  if (hello.role == Role::observer) {
    make_room(true, config_.limits.observers - 1);  // it may have come before those that are there
    Stranger& observer = *stranger_at(connection);
    observer.observer = true;
    observer.until = now_ + hello_deadline();
    due_by(observer.until);
    return write(connection, hello_to(NodeId{}));
  }
  if (hello.to != self().id) {
    return refuse_stranger(connection,
                           {RefusalReason::stranger, "this is " + name_of(self().id) + ", not " +
                                                         name_of(hello.to) + ", which was dialled"},
                           hello.from);
  }
  if (hello.role == Role::asker) {
    sessions_.strangers.erase(stranger_at(connection));
    write(connection, hello_to(hello.from));
    return put(HandOver{connection, hello});
  }
  const auto peer = sessions_.peers.find(hello.from);
  if (peer == sessions_.peers.end()) {
    return refuse_stranger(connection,
                           {RefusalReason::stranger, "the cluster has no " + name_of(hello.from)},
                           hello.from);
  }
  // It may have gone already; and what the life before has said counts, also where its letters came
  // behind a Hello that was not read yet.
  Drain drain{{connection}};
  const auto& session = peer->second.session;
  const auto before = connection_of(peer->second.touch);
  if (before && session && session->instance != hello.instance && reads_before_new_life())
    drain.connections.push_back(*before);
  wait_for(Greeted{connection, hello}, std::move(drain));
}

// In what another cluster differs. The one that is refused learns it as this one does: from the
// Hello that it gets when it is dialled.
void SessionTurn::tell_difference(const Hello& hello) {
  const bool is_member = hello.role == Role::node && sessions_.peers.contains(hello.from);
  const std::string name = hello.from == NodeId{} ? "an observer" : name_of(hello.from);
  // One matter for all strangers: anybody can say any id.
  warn_of(is_member ? "cluster of " + name : "Hello", [&] {
    const std::string keys = differing_keys(self(), hello);
    if (is_member) sessions_.differing[hello.from] = keys;
    return "refused " + name + ": the clusters differ in " + keys;
  });
}

// Somebody says that it is this very node, and speaks for its cluster. That is told, and no more:
// whoever was dialled in the place of a node that is down can say it too.
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

void SessionTurn::refuse_stranger(ConnectionId connection, const Refusal& refusal, NodeId who) {
  ++sessions_.counters.refused_hellos;
  if (refusal.reason != RefusalReason::cluster)  // of which tell_difference has more
    warn("Hello",
         "refused " + (who == NodeId{} ? "an observer" : name_of(who)) + ": " + refusal.text);
  write(connection, refusal);
  drop(stranger_at(connection));
}

}  // namespace muster::host
