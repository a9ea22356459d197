#pragma once

#include <muster/failure.hpp>
#include <muster/types.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

/// How the owner of a node, and anybody who may see its cluster, asks it for its status.

namespace muster::net {

/// A Unix socket on which a node answers one word with one line. Used on the thread of its
/// executor.
class Admin {
 public:
  /// Each word that is answered, and how: with one line without its end.
  using Words = std::map<std::string, std::function<std::string()>, std::less<>>;

  /// Answers at `path`, usually DIR/admin.sock, to the words, usually only "status".
  Admin(boost::asio::any_io_executor executor, std::string path, Words words);
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;
  ~Admin();

  /// Makes the socket, for its owner alone (0600), in place of one that a dead process left. Fails
  /// with `bad_configuration` when the path is longer than the system can have or is no socket.
  Expected<> listen();

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

/// Asks the node at `address` ("host:port") as an observer of the cluster with that canonical text,
/// and returns its status as JSON. Blocks for at most `bound`; fails with `unreachable`,
/// `timed_out`, or `bad_configuration` where the node refuses the cluster.
Expected<std::string> ask_observer(const std::string& address, const std::string& cluster,
                                   Duration bound);

}  // namespace muster::net
