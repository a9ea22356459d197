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

/// How the owner of a node, and anybody who may see its cluster, asks it for its status.

namespace MUSTER_EXPORT muster {
namespace net {

/// A Unix socket on which a node answers a word, and what is said along with it, with one line, or
/// with a line at each change to whoever says "watch". Used on the thread of its executor.
class Admin {
 public:
  /// Each word that is answered, and how: it is given what stands behind the word, after a space,
  /// and gives one line, or more, without the last one's end.
  using Words =
      std::map<std::string, std::function<std::string(std::string_view said)>, std::less<>>;

  /// Answers at `path`, usually DIR/admin.sock, to the words. Whoever says "watch" is answered as
  /// if it had said "status", and then told of changes.
  Admin(boost::asio::any_io_executor executor, std::string path, Words words);
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;
  ~Admin();

  /// Makes the socket, for its owner alone (0600), in place of one that a dead process left. Fails
  /// with `bad_configuration` when the path is longer than the system can have or is no socket.
  Expected<> listen();

  /// True where somebody watches.
  [[nodiscard]] bool is_watched() const;

  /// Tells all who watch: a line without its end. None is left out; who does not read is sent away
  /// when 256 lines or 1 MiB wait for it, or when its place is wanted: 16 may be there at a time.
  void tell(const std::string& line);

  /// Ends all, and removes the socket.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

/// Asks the node whose socket is at `path` and returns its line without the line's end. Blocks for
/// at most `bound`; fails with `unreachable` or `timed_out`.
Expected<std::string> ask_admin(const std::string& path, Duration bound,
                                std::string_view word = "status");

/// Watches the node whose socket is at `path`: calls `told` with its status, and with its status at
/// each change, until that returns true. Blocks for at most `bound`; fails with `unreachable`, also
/// when the node ends, or `timed_out`.
Expected<> watch_admin(const std::string& path, Duration bound,
                       const std::function<bool(std::string line)>& told);

/// What an observer proves of itself, and whose answers it believes; nothing where nodes have no
/// `tls`.
struct Observes {
  std::optional<TlsOptions> tls;  ///< with an observer's certificate, or a node's
  NodeSet nodes;
};

/// Asks the node at `address` ("host:port") as an observer of the cluster with that canonical text,
/// and returns its status as JSON. Blocks for at most `bound`; fails with `unreachable`,
/// `timed_out`, or `bad_configuration` where the node refuses the cluster.
Expected<std::string> ask_observer(const std::string& address, const std::string& cluster,
                                   Duration bound, const Observes& observes = {});

}  // namespace net
}  // namespace muster
