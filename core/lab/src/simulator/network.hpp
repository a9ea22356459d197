#pragma once

#include "process.hpp"

#include <muster/application.hpp>
#include <muster/host/sessions.hpp>

#include <array>
#include <memory>
#include <set>
#include <variant>
#include <vector>

/// Connections between processes. Frames arrive in order and with delays until the connection
/// breaks. A cut holds frames back; they arrive when the cut is healed.

namespace muster::lab::simulated {

/// The other side has closed the connection.
struct Closed {};
using Frame = std::variant<host::Frame, Closed>;

class SessionDriver;

struct Connection {
  struct Side {
    NodeId node;
    std::shared_ptr<Process> process;
    SessionDriver* sessions = nullptr;  ///< valid while the process lives
    bool open = true;
    host::ConnectionId number{};    ///< the connection's number at that process; 0: not known yet
    std::vector<Frame> received{};  ///< frames that have arrived and wait to be read
    std::vector<Frame> coming{};    ///< frames on their way; few at a time
    std::size_t held = 0;           ///< the number of arrivals that a cut holds back
    Duration last{};                ///< when the last frame arrives
  };
  std::array<Side, 2> sides;  ///< the side that dialled, and the side that accepted
  bool broken = false;
};
using ConnectionPtr = std::shared_ptr<Connection>;

/// The function that takes a coordinator's questions at a process.
struct Answerer {
  std::function<std::uint64_t(Inquiry, Answered)> asked;
  std::function<void(std::uint64_t question)> not_wanted;
};
/// A question that is on its way or being answered.
struct Asked {
  std::shared_ptr<Process> by;  ///< the process that answers the question
  std::uint64_t number{};       ///< its number at that process
  bool given_up = false;
};

class Network {
 public:
  explicit Network(Surroundings& world) : world_(world), hosts_(world.options.nodes + 1) {}

  // --- Called by processes
  void listen(NodeId node, std::shared_ptr<Process> process, SessionDriver* sessions,
              Answerer answerer);
  /// Reports the end of the dial to `from`, or nothing: silence.
  void dial(const std::shared_ptr<Process>& process, SessionDriver* sessions, NodeId from,
            NodeId to, std::uint64_t dial);
  /// Sends from the side with that index.
  void send(const ConnectionPtr& connection, std::size_t side, Frame frame);
  void close(const ConnectionPtr& connection, std::size_t side);
  /// Sends a question on a connection of its own. If the node cannot be reached, no answer comes.
  std::shared_ptr<Asked> ask(const std::shared_ptr<Process>& process, NodeId to, Inquiry inquiry,
                             const Answered& answered);
  void give_up(const std::shared_ptr<Asked>& asked, NodeId from, NodeId to);

  /// The time after which a process notices an arrival; mostly 0.
  Duration lateness();
  /// Counts the frames that a process read early, because of a verdict.
  void drained(std::size_t frames) { world_.drained += frames; }

  // --- Called by the world
  /// From now on no process listens at that node. If `machine_off`, the machine answers no dial. If
  /// `lose`, the newest frames of the process may be lost with it.
  void on_process_ended(NodeId node, bool machine_off, bool lose);
  void cut(NodeId from, NodeId to) { cuts_.insert({from, to}); }
  void heal(NodeId from, NodeId to);
  /// From now on the two nodes refuse each other's Hellos. Returns false if they did so already.
  bool refuse(NodeId a, NodeId b) { return refusals_.insert(std::minmax(a, b)).second; }
  bool refuse_no_more() { return !std::exchange(refusals_, {}).empty(); }
  [[nodiscard]] bool is_cut(NodeId from, NodeId to) const {
    return !cuts_.empty() && cuts_.contains({from, to});
  }
  /// Breaks every connection between `a` and `b`; frames on their way are lost. Returns false if
  /// there was no connection.
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
  std::vector<ConnectionPtr> connections_;  ///< all that are open on a side, and some closed ones
  std::size_t kept_ = 64;                   ///< the number of connections when closed ones were
                                            ///< last forgotten
  std::set<std::pair<NodeId, NodeId>> cuts_;
  std::set<std::pair<NodeId, NodeId>> refusals_;  ///< pairs, the lower node first
};

}  // namespace muster::lab::simulated
