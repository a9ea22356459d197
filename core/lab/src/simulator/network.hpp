#pragma once

#include "process.hpp"

#include <muster/application.hpp>
#include <muster/host/sessions.hpp>

#include <array>
#include <memory>
#include <set>
#include <variant>
#include <vector>

/// Connections between processes: in order, with delays, until they are broken. A cut holds back
/// what is on its way; what is held back comes when it is healed.

namespace muster::lab::simulated {

/// The other side is closed.
struct Closed {};
using Frame = std::variant<host::Frame, Closed>;

class SessionDriver;

struct Connection {
  struct Side {
    NodeId node;
    std::shared_ptr<Process> process;
    SessionDriver* sessions = nullptr;  ///< there while the process is
    bool open = true;
    host::ConnectionId number{};    ///< there; 0: not known to it yet
    std::vector<Frame> received{};  ///< has arrived, and waits to be read
    std::vector<Frame> coming{};    ///< few at a time
    std::size_t held = 0;           ///< arrivals that a cut holds back
    Duration last{};                ///< when the last of them arrives
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

class Network {
 public:
  explicit Network(Surroundings& world) : world_(world), hosts_(world.options.nodes + 1) {}

  // --- What processes do
  void listen(NodeId node, std::shared_ptr<Process> process, SessionDriver* sessions,
              Answerer answerer);
  /// Tells `from` how it ended, or nothing: silence.
  void dial(const std::shared_ptr<Process>& process, SessionDriver* sessions, NodeId from,
            NodeId to, std::uint64_t dial);
  /// From the side of that index.
  void send(const ConnectionPtr& connection, std::size_t side, Frame frame);
  void close(const ConnectionPtr& connection, std::size_t side);
  /// Asks, on a connection of its own. Where the node cannot be reached nothing comes of it.
  std::shared_ptr<Asked> ask(const std::shared_ptr<Process>& process, NodeId to, Inquiry inquiry,
                             const Answered& answered);
  void give_up(const std::shared_ptr<Asked>& asked, NodeId from, NodeId to);

  /// How late a process notices that something has arrived; mostly at once.
  Duration lateness();
  /// A process has read so much that had arrived before its turn came.
  void drained(std::size_t frames) { world_.drained += frames; }

  // --- What happens to them
  /// Nothing listens there any more. A machine that is off says nothing to anybody; the newest
  /// frames of a process that ends may get lost with it.
  void ended(NodeId node, bool machine_off, bool lose);
  void cut(NodeId from, NodeId to) { cuts_.insert({from, to}); }
  void heal(NodeId from, NodeId to);
  /// The two refuse each other's Hellos; false: they did so already.
  bool refuse(NodeId a, NodeId b) { return refusals_.insert(std::minmax(a, b)).second; }
  bool refuse_no_more() { return !std::exchange(refusals_, {}).empty(); }
  [[nodiscard]] bool is_cut(NodeId from, NodeId to) const {
    return !cuts_.empty() && cuts_.contains({from, to});
  }
  /// Breaks every connection between the two; what is on its way is lost. False: there was none.
  bool reset(NodeId a, NodeId b);

 private:
  struct Host {
    std::shared_ptr<Process> process;
    SessionDriver* sessions = nullptr;
    Answerer answerer{};
    bool off = false;
  };
  Duration delay();
  void forget_closed();
  void dial_arrives(const std::shared_ptr<Process>& process, SessionDriver* sessions, NodeId from,
                    NodeId to, std::uint64_t dial);
  void push(const ConnectionPtr& connection, std::size_t to, Frame frame);
  void schedule(const ConnectionPtr& connection, std::size_t to);
  void arrives(const ConnectionPtr& connection, std::size_t to);

  Surroundings& world_;
  std::vector<Host> hosts_;
  std::vector<ConnectionPtr> connections_;  ///< all that are not closed on both sides, and a few
  std::size_t kept_ = 64;                   ///< of them, when the closed were last forgotten
  std::set<std::pair<NodeId, NodeId>> cuts_;
  std::set<std::pair<NodeId, NodeId>> refusals_;  ///< the lower first
};

}  // namespace muster::lab::simulated
