#pragma once

#include <muster/protocol/letter.hpp>
#include <muster/values/failure.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

/// The sessions of one life of a node with the lives of the others: letters in order, nothing lost
/// between two lives, and the proof that a life is over (assumptions 5 to 8). It knows letters and
/// lives, and no protocol: it looks at no kind of letter.

namespace muster::net {

class Connection;
struct Hello;

/// Which life of which node this is.
struct Self {
  NodeId id;
  Incarnation incarnation;
  std::uint64_t instance{};  ///< random, drawn when the process begins the life; never 0
  std::string cluster;       ///< the canonical text of the cluster, `key=value` lines
};

/// What is bounded, and by how much.
struct SessionLimits {
  /// Connections that have not said Hello yet; one more ends the oldest. Those of the cluster's
  /// nodes have their own place, one each.
  std::size_t strangers = 64;
  std::size_t observers = 16;
  /// Bytes of letters that one node has not acknowledged; beyond it letters are dropped, as if
  /// lost.
  std::size_t queue_bytes = 4 * 1024 * 1024;
  std::size_t queue_letters = 4096;
  /// How long a connection that was accepted may take to say Hello, and how long a frame may be
  /// partial; zero: 2 T and T.
  Duration hello_deadline{};
  Duration frame_deadline{};
};

/// What has happened to sessions since the life began.
struct Counters {
  std::uint64_t accepted{};        ///< connections that others dialled
  std::uint64_t dialled{};         ///< connections that this node dialled
  std::uint64_t refused_hellos{};  ///< Hellos that made no session
  std::uint64_t garbage{};         ///< connections closed for what came, or did not come, on them
  std::uint64_t crowded{};         ///< connections closed to make room
  std::uint64_t sessions{};        ///< sessions begun
  std::uint64_t broken{};          ///< connections that ended and were not closed by this node
  std::uint64_t letters_in{};
  std::uint64_t letters_out{};
  std::uint64_t bytes_in{};
  std::uint64_t bytes_out{};
  std::uint64_t resent{};      ///< letters sent again over another connection
  std::uint64_t duplicates{};  ///< letters received again, and dropped
  std::uint64_t dropped{};     ///< letters that found no room in a queue
};

/// Who says, and of which incarnation, that this life has been seen before or is over: nodes at the
/// addresses where this one has dialled them. One alone nobody can tell from a stranger.
using Voices = std::map<NodeId, Incarnation>;

/// Sessions of one life of a node. To be used on one thread, the one that runs the executor's
/// context; handlers are called on it too, one after the other, never from within `send` or
/// `keep_only`. They may call every member, and may destroy nothing. Nothing is called after
/// `close`.
class Sessions {
 public:
  struct Handlers {
    /// A call of another node, or the answer to a call that this node still awaits.
    std::function<void(Letter)> received;
    /// That call can no longer be answered: the paper's ONTIMEOUT. For every call exactly one of
    /// this and `received` comes, unless it was given up.
    std::function<void(NodeId, CallNumber)> unanswered;
    /// That life of another node is over: proven.
    std::function<void(NodeId, Incarnation)> failed;
    /// Other nodes have seen this incarnation of this node: a higher one, and this life must not go
    /// on, or the very one in another process. Called whenever one says so.
    std::function<void(const Voices&)> outlived;
    /// The status as one line of JSON, for observers.
    std::function<std::string()> status;
    /// Somebody has dialled who is no other node's session, but asks (Role::asker).
    std::function<void(const std::shared_ptr<Connection>&, const Hello&)> asker;
    /// One sentence for the owner of the node; not repeated while nothing changes.
    std::function<void(std::string)> warn;
  };

  /// `addresses` has every node of the cluster as "host:port", this one included: there it listens.
  /// `seen` is the highest incarnation seen of the others in earlier lives. `T` bounds dials and
  /// partial frames, the bound of a call comes with the call.
  Sessions(boost::asio::any_io_executor executor, Self self,
           std::map<NodeId, std::string> addresses, Duration T, SessionLimits limits,
           std::map<NodeId, Incarnation> seen, Handlers handlers);
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions();

  /// Listens at this node's address: from now on others can begin sessions. Says nothing to
  /// anybody. Fails with `temporary` when the address is in use, with `bad_configuration` when it
  /// cannot be one.
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

  /// Gives up all calls but those that `awaited` is true for: neither answers to them nor
  /// `unanswered` will come, and they are not sent again.
  void keep_only(const std::function<bool(CallNumber)>& awaited);

  /// Breaks every connection, as the network may: nothing is lost. A fault to test with.
  void break_connections();

  /// Ends all, at once: sessions first, the listener last of all, so that a refused connection
  /// means that nothing works here any more.
  void close();

  [[nodiscard]] const Counters& counters() const;

  /// The lives that sessions stand with.
  [[nodiscard]] std::map<NodeId, Incarnation> lives() const;

  /// Nodes that were refused because their cluster's text is another: the keys, with both values.
  [[nodiscard]] const std::map<NodeId, std::string>& differing() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net
