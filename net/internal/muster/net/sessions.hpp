#pragma once

#include <muster/detail/net/one_boost.hpp>
#include <muster/host/sessions.hpp>
#include <muster/protocol/step.hpp>
#include <muster/values/failure.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

/// The sessions of one life of a node over TCP. `host::Sessions` has all the rules; the class here
/// gives it sockets, timers and bytes.
///
/// A session joins one life of this node to one life of another. The protocol relies on it in two
/// ways. Letters between two lives are processed in the order in which they were sent, each once
/// (assumption 7). And if a call gets no answer, the other life has failed (assumption 8). TCP
/// alone provides neither of the two, as a connection can break while both lives go on. So a
/// session outlasts its connections: letters are numbered, unacknowledged ones are sent again over
/// the next connection, and duplicates are dropped.
///
/// Each connection begins with a Hello of either side. A Hello names the node, its life and the
/// session, and the last letter that was received. It answers four questions:
///
/// - May the two speak with each other? They need the same cluster text and a common wire version.
///   With TLS, the certificate has to be for the node that the Hello names.
/// - Which life is it? A higher incarnation than the known one is the next life of that node, so
///   the known life is over. Any machine could claim that. So while a connection to the known life
///   stands, the claim is believed only from the configured address of that node: a claim on an
///   accepted connection makes this node dial that address. A dead process has no connection, so
///   its successor is believed at once.
/// - Is it the same process? A random instance number tells a life from a copy of its store that
///   runs under the same incarnation. Such a copy is refused.
/// - Where does the session continue? After the last letter that the Hello acknowledges.
///
/// A node that sees a lower incarnation than the one it knows refuses the Hello: that node has lost
/// its store, or runs a restored one (assumption 4).
///
/// A session ends only when the other life is over. Only two events prove this end: the Hello of
/// the next life, and a refused dial after the last connection was read to its end. A refusal is a
/// proof because the listener closes last of all, so nothing of that life can work any more.
/// Everything else, such as a reset or an unreachable host, is only silence. Before silence or a
/// refusal counts, everything that has already arrived is read (`host::Drain`). A firewall can
/// forge a refusal. If `SessionLimits::proofs` is false, a refusal is only silence too. If a forged
/// refusal made the other side end a session, the next Hello of that side has a higher session
/// number. The session then ends on this side as well.

namespace MUSTER_EXPORT muster {
namespace net {

using host::Counters;
using host::LifeClaims;
using host::Self;
using host::SessionLimits;

class Connection;
struct Traffic;
class Tls;

/// The sessions of one life of a node. Use it on one thread, the one that runs the executor's
/// context. The handlers are called on that thread too. `turn` may call every member. No handler
/// may destroy this object. After `close` no handler is called.
class Sessions {
 public:
  struct Handlers {
    /// Receives Received, Unanswered, Failed or Differing, for `step`, in order. The handler must
    /// only note the event, and must call no member of Sessions. Each call gets exactly one event,
    /// its answer or Unanswered, unless it was given up.
    std::function<void(Event)> event;
    /// Called when all events of the present moment have been reported, so that `step` can now work
    /// on them.
    std::function<void()> turn;
    /// A peer has seen a higher incarnation of this node than this life's, or the same incarnation
    /// in another process. So this life must not go on. Called each time that a peer reports such
    /// an incarnation.
    std::function<void(const LifeClaims&)> outlived;
    /// The status as one line of JSON, for observers.
    std::function<std::string()> status;
    /// A coordinator has connected in order to ask a question (Role::asker).
    std::function<void(const std::shared_ptr<Connection>&, const host::Hello&)> asker;
    /// A sentence for the owner of the node. The sentence is not repeated while nothing changes.
    std::function<void(std::string)> warn;
  };

  /// `addresses` contains the address of each node of the cluster, including this one, as
  /// "host:port". This node listens at `listen`, or at its own address if `listen` is empty. Names
  /// are resolved at each dial. `safe` contains the lives of other nodes that this node has met.
  /// `T` bounds a dial and a partial frame; each call has its own bound. If `tls` has credentials,
  /// connections are encrypted and both ends are authenticated.
  Sessions(boost::asio::any_io_executor executor, Self self,
           std::map<NodeId, std::string> addresses, Duration T, SessionLimits limits,
           const SafeState& safe, Handlers handlers, const std::string& listen = {},
           std::shared_ptr<const Tls> tls = {});
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions();

  /// Listens at this node's address. From then on other nodes can begin sessions. Sends nothing.
  /// Fails with `temporary` if waiting can help: the address is in use or does not exist yet, or no
  /// descriptor is left. Fails with `bad_configuration` if the address can never be used.
  Expected<> listen();

  /// The port at which this node listens. If the address has port 0, the system has chosen this
  /// port.
  [[nodiscard]] std::uint16_t port() const;

  /// Dials another node at this address from now on.
  void relocate(NodeId node, std::string address);

  /// Sends Hello once to every other node, so that each learns that this life has begun. A node
  /// that makes calls need not do this, as a call begins with a Hello.
  void greet();

  /// Sends a letter. A call without an answer within `bound` counts as unanswered. An answer goes
  /// only to the life that made the call. A call to a life that is over is unanswered at once.
  void send(Letter letter, std::optional<Duration> bound);

  /// Gives up all calls except those for which `awaited` returns true. Calls that are given up are
  /// not sent again, and produce no event.
  void keep_only(const std::function<bool(CallNumber)>& awaited);

  /// Writes the letters that were sent, as far as possible without waiting. Otherwise they are
  /// written when the present turn of the executor ends.
  void flush();

  /// Breaks every connection, as a fault of the network would. No letter is lost. Only tests use
  /// this function.
  void break_connections();

  /// Breaks the connections whose certificates have expired at `now`. A peer without a newer
  /// certificate cannot connect again.
  void break_unproven(std::chrono::system_clock::time_point now);

  /// Ends everything at once: the connections first, the listener last. So a refused connection
  /// means that nothing of this life works any more.
  void close();

  [[nodiscard]] const Counters& counters() const;
  /// Counts the frames by kind, without those of questions (`ask`).
  [[nodiscard]] const Traffic& traffic() const;

  /// The time (CLOCK_MONOTONIC) at which the last letter of that node was received; none if the
  /// node has sent none.
  [[nodiscard]] std::optional<Duration> heard(NodeId node) const;

  /// The lives of other nodes with which this life has sessions.
  [[nodiscard]] std::map<NodeId, Incarnation> lives() const;
  /// The wire version of each session with another life.
  [[nodiscard]] std::map<NodeId, std::uint8_t> wire() const;

  /// The nodes whose configuration differs from this node's. For each: the keys that differ, and
  /// both values if the other node's text is known.
  [[nodiscard]] const std::map<NodeId, std::string>& differing() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace net
}  // namespace muster
