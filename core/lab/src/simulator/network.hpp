#pragma once

#include "process.hpp"

#include <muster/application.hpp>
#include <muster/protocol/letter.hpp>

#include <array>
#include <memory>
#include <set>
#include <variant>
#include <vector>

/// Connections between processes: in order, with delays, until they are broken. A cut holds back
/// what is on its way; what is held back comes when it is healed.

namespace muster::lab::simulated {

/// The first thing that each side of a connection says: which life it is, and how far it has come
/// in the session with the other.
struct Hello {
  Incarnation incarnation;
  std::uint64_t instance{};
  std::uint64_t number{};         ///< counts the Hellos of this life
  std::uint64_t session{};        ///< counts the sessions with the other life
  std::uint64_t peer_instance{};  ///< the life that it knows of the other
  std::uint64_t peer_session{};   ///< that life's count
  std::uint64_t received{};       ///< the number of the last letter that came
};
/// A letter with its number, and the number of the last one that came the other way.
struct Carried {
  std::uint64_t number{};
  std::uint64_t acknowledged{};
  Letter letter;
};
/// A Hello that made no session. `seen`: a later life of the one who said it was seen, or this one
/// in another process; none: two connections crossed, and the other stays.
struct Refusal {
  std::optional<Incarnation> seen;
};
/// The other side is closed.
struct Closed {};
using Frame = std::variant<Hello, Carried, Refusal, Closed>;

class Sessions;

struct Connection {
  struct Side {
    NodeId node;
    std::shared_ptr<Process> process;
    Sessions* sessions = nullptr;  ///< there while the process is
    bool open = true;
    std::vector<Frame> coming;  ///< few at a time
    std::size_t held = 0;       ///< arrivals that a cut holds back
    Duration last{};            ///< when the last of them arrives
  };
  std::array<Side, 2> sides;  ///< who dialled, who accepted
  bool broken = false;
};
using ConnectionPtr = std::shared_ptr<Connection>;

/// Where a process takes the questions of its coordinator.
struct Answerer {
  std::function<std::uint64_t(Inquiry, Answered)> asked;
  std::function<void(std::uint64_t question)> not_wanted;
};
/// A question that was sent.
struct Asked {
  std::shared_ptr<Process> by;  ///< who answers it
  std::uint64_t number{};       ///< there
  bool given_up = false;
};

/// How a dial ended.
enum class DialEnd { connected, refused };

class Network {
 public:
  explicit Network(Surroundings& world) : world_(world), hosts_(world.options.nodes + 1) {}

  // --- What processes do
  void listen(NodeId node, std::shared_ptr<Process> process, Sessions* sessions, Answerer answerer);
  /// Tells `from` how it ended, or nothing: silence.
  void dial(const std::shared_ptr<Process>& process, Sessions* sessions, NodeId from, NodeId to,
            std::uint64_t dial);
  /// From the side of that index.
  void send(const ConnectionPtr& connection, std::size_t side, Frame frame);
  void close(const ConnectionPtr& connection, std::size_t side);
  /// Asks, on a connection of its own. Where the node cannot be reached nothing comes of it.
  std::shared_ptr<Asked> ask(const std::shared_ptr<Process>& process, NodeId to, Inquiry inquiry,
                             const Answered& answered);
  void give_up(const std::shared_ptr<Asked>& asked, NodeId from, NodeId to);

  // --- What happens to them
  /// Nothing listens there any more. A machine that is off says nothing to anybody; the newest
  /// frames of a process that ends may get lost with it.
  void ended(NodeId node, bool machine_off, bool lose);
  void cut(NodeId from, NodeId to) { cuts_.insert({from, to}); }
  void heal(NodeId from, NodeId to);
  [[nodiscard]] bool is_cut(NodeId from, NodeId to) const {
    return !cuts_.empty() && cuts_.contains({from, to});
  }
  /// Breaks every connection between the two; what is on its way is lost. False: there was none.
  bool reset(NodeId a, NodeId b);

 private:
  struct Host {
    std::shared_ptr<Process> process;
    Sessions* sessions = nullptr;
    Answerer answerer{};
    bool off = false;
  };
  Duration delay();
  void forget_closed();
  void dial_arrives(const std::shared_ptr<Process>& process, Sessions* sessions, NodeId from,
                    NodeId to, std::uint64_t dial);
  void push(const ConnectionPtr& connection, std::size_t to, Frame frame);
  void schedule(const ConnectionPtr& connection, std::size_t to);
  void arrives(const ConnectionPtr& connection, std::size_t to);

  Surroundings& world_;
  std::vector<Host> hosts_;
  std::vector<ConnectionPtr> connections_;  ///< all that are not closed on both sides, and a few
  std::size_t kept_ = 64;                   ///< of them, when the closed were last forgotten
  std::set<std::pair<NodeId, NodeId>> cuts_;
};

}  // namespace muster::lab::simulated
