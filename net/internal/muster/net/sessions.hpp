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

/// The sessions of one life of a node over TCP: sockets, timers and bytes for `host::Sessions`,
/// which has all the rules.

namespace MUSTER_EXPORT muster {
namespace net {

using host::Counters;
using host::Self;
using host::SessionLimits;
using host::Voices;

class Connection;
struct Traffic;
class Tls;

/// Sessions of one life of a node. To be used on one thread, the one that runs the executor's
/// context; handlers are called on it too. `turn` may call every member, and none of them may
/// destroy anything. Nothing is called after `close`.
class Sessions {
 public:
  struct Handlers {
    /// Received, Unanswered, Failed or Differing, for `step`, in order. It only takes note, and
    /// calls no member. For every call exactly one of its answer and Unanswered comes, unless it
    /// was given up.
    std::function<void(Event)> event;
    /// All that is to be told at present was told: what comes of it may begin.
    std::function<void()> turn;
    /// Other nodes have seen this incarnation of this node: a higher one, and this life must not go
    /// on, or the very one in another process. Called whenever one says so.
    std::function<void(const Voices&)> outlived;
    /// The status as one line of JSON, for observers.
    std::function<std::string()> status;
    /// Somebody has dialled who is no other node's session, but asks (Role::asker).
    std::function<void(const std::shared_ptr<Connection>&, const host::Hello&)> asker;
    /// One sentence for the owner of the node; not repeated while nothing changes.
    std::function<void(std::string)> warn;
  };

  /// `addresses` has every node of the cluster as "host:port", this one included: there it listens,
  /// or at `listen` where that is not empty. Names are resolved each time that they are dialled.
  /// Of `safe`, the lives of the others that this node has met. `T` bounds dials and partial
  /// frames, the bound of a call comes with the call. Connections are encrypted and proven by
  /// `tls`, where there is one and it has credentials.
  Sessions(boost::asio::any_io_executor executor, Self self,
           std::map<NodeId, std::string> addresses, Duration T, SessionLimits limits,
           const SafeState& safe, Handlers handlers, const std::string& listen = {},
           std::shared_ptr<const Tls> tls = {});
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions();

  /// Listens at this node's address: from now on others can begin sessions. Says nothing to
  /// anybody. Fails with `temporary` where it helps to wait: the address is in use, or not there
  /// yet, or no descriptor is left; with `bad_configuration` when it cannot be one.
  Expected<> listen();

  /// The port that it listens on; the one that the system chose where the address has port 0.
  [[nodiscard]] std::uint16_t port() const;

  /// Another node is to be dialled at this address from now on.
  void relocate(NodeId node, std::string address);

  /// Says Hello to every other node, once: it learns that this life has begun. Calls do so by
  /// themselves.
  void greet();

  /// Sends a letter: a call, which may stay unanswered for `bound`, or an answer, which goes to the
  /// life that made the call or nowhere. A call that names a life that is over is unanswered at
  /// once.
  void send(Letter letter, std::optional<Duration> bound);

  /// Gives up all calls but those that `awaited` is true for: they are not sent again, and nothing
  /// that still happens is told of them.
  void keep_only(const std::function<bool(CallNumber)>& awaited);

  /// Writes what was sent, as far as that goes without waiting; otherwise it goes when the present
  /// turn of the executor ends.
  void flush();

  /// Breaks every connection, as the network may: nothing is lost. A fault to test with.
  void break_connections();

  /// Breaks those by certificates that have ended by then: who has no newer one stays away.
  void break_unproven(std::chrono::system_clock::time_point now);

  /// Ends all, at once: sessions first, the listener last of all, so that a refused connection
  /// means that nothing works here any more.
  void close();

  [[nodiscard]] const Counters& counters() const;
  /// Frames by kind; those of questions (`ask`) are not among them.
  [[nodiscard]] const Traffic& traffic() const;

  /// When the last letter of that node came (CLOCK_MONOTONIC); none where none has.
  [[nodiscard]] std::optional<Duration> heard(NodeId node) const;

  /// The lives that sessions stand with.
  [[nodiscard]] std::map<NodeId, Incarnation> lives() const;
  /// The wire version of each of those sessions.
  [[nodiscard]] std::map<NodeId, std::uint8_t> wire() const;

  /// Nodes that differ, and in what: the keys with both values, where its text was heard.
  [[nodiscard]] const std::map<NodeId, std::string>& differing() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace net
}  // namespace muster
