#pragma once

#include "net/frames/golden.hpp"
#include "wire.hpp"

#include <muster/values/describe.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// An attacker that reaches the ports of nodes and knows the text of their cluster.

namespace muster::test {

/// The kinds of attack on a node.
enum class Attack {
  noise,         ///< bytes that are no frames
  before_hello,  ///< a mutated frame, sent before any Hello
  as_observer,   ///< mutated frames after the Hello of an observer
  as_asker,  ///< after an asker's Hello: the questions that a coordinator asks, and mutated frames
  in_greeting,      ///< the attacker listens at the address of a node that is down, and sends any
                    ///< answers
  crossing,         ///< the attacker dials a node that is dialling it at that moment
  in_session,       ///< invalid or misplaced frames in a session as the node that is down
  namesake,         ///< Hellos that claim to be a later life of the attacked node itself
  foreign_cluster,  ///< Hellos with another cluster's text
  tiny_keys,        ///< Hellos with a text of 64 KiB of tiny keys
  other_version,    ///< Hellos of other wire versions and roles
  elsewhere,        ///< Hellos to another node, or from a node that does not exist
  down_node,        ///< Hellos in the name of the node that is down, with any life
  later_life,       ///< Hellos that claim to be the next life of another member
  replay,  ///< frames that the attacker has received, sent to their senders and to other nodes
  question_flood,  ///< many status questions; the attacker does not read the answers
  byte_by_byte,    ///< many frames, one byte at a time
  silent,          ///< connections that send nothing
  half_closed,     ///< connections of which the attacker has closed its sending side
  reset,           ///< connections that are reset at any point
  lying_tags,  ///< letters in a session as the node that is down, with a false sender or receiver
  letters_of_a_node,  ///< mutated letters in a session as the node that is down
};
MUSTER_DESCRIBE_ENUM(Attack, noise, before_hello, as_observer, as_asker, in_greeting, crossing,
                     in_session, namesake, foreign_cluster, tiny_keys, other_version, elsewhere,
                     down_node, later_life, replay, question_flood, byte_by_byte, silent,
                     half_closed, reset, lying_tags, letters_of_a_node)

/// The attacked cluster. One of its nodes is down.
struct Scene {
  std::map<NodeId, std::uint16_t> ports;
  std::string cluster;  ///< the canonical text of the cluster, by which nodes compare clusters
  NodeId down;
  std::map<NodeId, Incarnation> lives;  ///< lives of the nodes that are up
  GroupNumber group;                    ///< the group of these nodes
};

/// Counts what the attacker did and which answers it received.
struct Tally {
  std::uint64_t bursts{}, connections{}, hellos{}, frames{};  ///< `frames`: all sent except Hellos
  std::uint64_t greeted{}, refused{};  ///< number of received Hellos, and of received Refusals
};

class Attacker {
 public:
  explicit Attacker(std::uint64_t seed);

  /// Does one burst, which depends only on the seed and on the nodes' answers.
  Tally attack(Attack how, const Scene& scene);
  /// Ends all connections that the attacker has open.
  void let_go() { held_.clear(); }

 private:
  // A number of 0 to `below` - 1.
  std::uint64_t any(std::uint64_t below) { return random_() % below; }
  template <class Container>
  const auto& one_of(const Container& all) {
    return *std::next(all.begin(), static_cast<std::ptrdiff_t>(any(all.size())));
  }
  std::uint64_t any_number();
  std::string noise(std::size_t most);
  std::string broken(std::string frame);
  std::string mutated(std::string frame);
  net::Frame any_frame(NodeId to, bool letters);
  template <class Message>
  void believable(Message& message, NodeId to);
  net::Frame lying(NodeId to);

  net::Hello hello(NodeId from, NodeId to, net::Role role = net::Role::node);
  net::Hello forged(Attack how, NodeId to);
  net::Hello own(NodeId to, bool of_next_life);

  Wire dial(NodeId node);
  void say_hello(Wire& wire, const net::Hello& hello);
  void say(Wire& wire, std::string_view bytes);
  std::optional<net::Frame> hear(Wire& wire, Duration bound);
  Wire in_session(NodeId node);
  void end(Wire wire);

  void mutate(Attack how, NodeId node);
  void forge(Attack how, NodeId node);
  void ask(NodeId node);
  void answer_dial(Attack how, NodeId node);
  void answer(Wire& wire, NodeId node);
  void crowd(Attack how, NodeId node);

  std::mt19937_64 random_;
  std::vector<Golden> frames_;
  Scene scene_;
  Tally tally_;
  /// For each attacked node: the life and the instance that the attacker claimed there for the node
  /// that is down.
  std::map<NodeId, std::pair<Incarnation, std::uint64_t>> said_;
  std::uint64_t hellos_{};
  std::deque<Wire> held_;
  std::deque<std::string> heard_;  ///< received frames, in their order
};

}  // namespace muster::test
