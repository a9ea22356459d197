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

/// Somebody hostile who reaches the ports of nodes, and knows the text of their cluster.

namespace muster::test {

/// What is done to a node.
enum class Attack {
  noise,              ///< bytes that are no frames
  before_hello,       ///< a mutated frame is the first one
  as_observer,        ///< mutated frames after the Hello of an observer
  as_asker,           ///< questions of a coordinator, and mutated frames, after an asker's Hello
  in_greeting,        ///< it listens in the place of a node that is down, and answers anything
  crossing,           ///< it dials whom it is just dialled by
  in_session,         ///< broken and misplaced frames in a session of the node that is down
  namesake,           ///< Hellos in the node's own name, of a later life
  foreign_cluster,    ///< Hellos with another text
  tiny_keys,          ///< Hellos with a text of 64 KiB of tiny keys
  other_version,      ///< Hellos of other wire versions and roles
  elsewhere,          ///< Hellos to another node, or of one that the cluster has not
  down_node,          ///< Hellos of the node that is down, of any life
  later_life,         ///< Hellos of another member's next life
  replay,             ///< what nodes have said to it goes to them, and to others
  question_flood,     ///< status questions by who reads no answer
  byte_by_byte,       ///< many frames, each a byte at a time
  silent,             ///< connections that say nothing
  half_closed,        ///< connections whose one side is closed
  reset,              ///< connections that are reset, wherever they stand
  lying_tags,         ///< letters in that session whose tags are not those of their sender
  letters_of_a_node,  ///< mutated letters in a session of the node that is down
};
MUSTER_DESCRIBE_ENUM(Attack, noise, before_hello, as_observer, as_asker, in_greeting, crossing,
                     in_session, namesake, foreign_cluster, tiny_keys, other_version, elsewhere,
                     down_node, later_life, replay, question_flood, byte_by_byte, silent,
                     half_closed, reset, lying_tags, letters_of_a_node)

/// Whom it attacks: a cluster of which one node is down.
struct Scene {
  std::map<NodeId, std::uint16_t> ports;
  std::string cluster;  ///< its canonical text
  NodeId down;
  std::map<NodeId, Incarnation> lives;  ///< of those that are up
  GroupNumber group;                    ///< in which they are
};

/// What it has done, and what it was told.
struct Tally {
  std::uint64_t bursts{}, connections{}, hellos{}, frames{};  ///< `frames`: that are no Hellos
  std::uint64_t greeted{}, refused{};                         ///< Hellos that came back, Refusals
};

class Attacker {
 public:
  explicit Attacker(std::uint64_t seed);

  /// Does one burst, which follows from the seed and what the nodes say.
  Tally attack(Attack how, const Scene& scene);
  /// Ends all connections that it holds.
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
  /// The life, and its instance, that it has to each in the name of the node that is down.
  std::map<NodeId, std::pair<Incarnation, std::uint64_t>> said_;
  std::uint64_t hellos_{};
  std::deque<Wire> held_;
  std::deque<std::string> heard_;  ///< frames, as they came
};

}  // namespace muster::test
