#pragma once

#include <muster/detail/net/one_boost.hpp>
#include <muster/values/failure.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>

/// Unix sockets at which a process answers its owner, line by line.

namespace MUSTER_EXPORT muster {
namespace net {

using UnixSocket = boost::asio::local::stream_protocol::socket;

/// A connection to a Unix socket of this kind. Only one thread at a time may use the object.
class LineSocket : public std::enable_shared_from_this<LineSocket> {
 public:
  explicit LineSocket(UnixSocket socket) : socket_(std::move(socket)) {}

  /// Reads the next line, without its newline. Fails if either side has ended the connection, and
  /// with `not_found` if `most` bytes contain no newline.
  void read(std::size_t most,
            std::function<void(boost::system::error_code error, std::string line)> on_line);
  /// Sends a line after all earlier ones. Calls `gone` when the line is sent, or when it can never
  /// be sent.
  void tell(std::string line, std::function<void()> gone = {});
  /// The number of lines that are not sent yet.
  [[nodiscard]] std::size_t untold() const { return untold_.size(); }
  [[nodiscard]] std::size_t untold_bytes() const { return untold_bytes_; }
  /// Ends the connection.
  void close();
  /// Sends one more line, unless the system would have to wait for room, and ends the connection.
  void close_with(const std::string& line);

 private:
  struct Untold {
    std::string line;
    std::function<void()> gone;
  };
  void write();

  UnixSocket socket_;
  std::string text_;           // read from the socket, and not handed out yet
  std::deque<Untold> untold_;  // the first one is being written
  std::size_t untold_bytes_ = 0;
};

/// Listens at a path that only the owner of this process can use (mode 0600). Programs that this
/// process starts inherit neither the socket nor its connections.
class LineListener {
 public:
  using OnConnection = std::function<void(UnixSocket socket)>;

  LineListener(boost::asio::any_io_executor executor, OnConnection on_connection);
  LineListener(const LineListener&) = delete;
  LineListener& operator=(const LineListener&) = delete;
  ~LineListener();

  /// Replaces the socket of a dead process. Fails with `bad_configuration` if the path is too long
  /// for the system or is not a socket.
  Expected<> listen(const std::string& path);
  /// Accepts no more connections, and removes the socket.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace net
}  // namespace muster
