#pragma once

#include <muster/detail/net/one_boost.hpp>
#include <muster/net/tls.hpp>
#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// How the owner of a node, and observers of its cluster, ask it for its status.

namespace MUSTER_EXPORT muster {
namespace net {

/// The Unix socket at which a node answers its owner. A client sends a word (and text after the
/// word, if it needs any) and gets a line. A client that sends "watch" gets a line at each change.
/// Used only on the thread of its executor.
class Admin {
 public:
  /// The words that are answered, each with a function. The function receives the text after the
  /// word and a space. The function returns one line or more, without the last newline.
  using Words =
      std::map<std::string, std::function<std::string(std::string_view said)>, std::less<>>;

  /// Answers `words` at `path`, usually DIR/admin.sock. A client that sends "watch" is answered as
  /// for "status", and is then told of changes.
  Admin(boost::asio::any_io_executor executor, std::string path, Words words);
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;
  ~Admin();

  /// Makes the socket, which only its owner can use (mode 0600). Replaces the socket of a dead
  /// process. Fails with `bad_configuration` if the path is too long for the system or is not a
  /// socket.
  Expected<> listen();

  /// True if a client watches.
  [[nodiscard]] bool is_watched() const;

  /// Sends a line, which is given without its newline, to all watching clients. No line is left
  /// out. A client that does not read is disconnected when 256 lines or 1 MiB wait for it, or when
  /// another client needs its place. There are 16 places.
  void tell(const std::string& line);

  /// Ends all connections, and removes the socket.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

/// Asks the node at the socket `path`, and returns its line without the newline. Blocks for at most
/// `bound`. Fails with `unreachable` or `timed_out`.
Expected<std::string> ask_admin(const std::string& path, Duration bound,
                                std::string_view word = "status");

/// Watches the node at the socket `path`. Calls `told` with the node's status at once and after
/// each change, until `told` returns true. Blocks for at most `bound`. Fails with `unreachable` if
/// the node cannot be reached or ends, and with `timed_out` after `bound`.
Expected<> watch_admin(const std::string& path, Duration bound,
                       const std::function<bool(std::string line)>& told);

/// How an observer proves its identity, and which nodes it believes. If the nodes have no TLS, both
/// members are empty.
struct Observes {
  std::optional<TlsOptions> tls;  ///< names the certificate of an observer or of a node
  NodeSet nodes;
};

/// Asks the node at `address` ("host:port") for its status, as an observer of the cluster with that
/// canonical text. Returns the status as JSON. Blocks for at most `bound`. Fails with
/// `unreachable`, with `timed_out`, or with `bad_configuration` if the node refuses the cluster.
Expected<std::string> ask_observer(const std::string& address, const std::string& cluster,
                                   Duration bound, const Observes& observes = {});

}  // namespace net
}  // namespace muster
