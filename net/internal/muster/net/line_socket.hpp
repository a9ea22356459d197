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

/// A connection there. All of it is done by one thread at a time.
class LineSocket : public std::enable_shared_from_this<LineSocket> {
 public:
  explicit LineSocket(UnixSocket socket) : socket_(std::move(socket)) {}

  /// Reads the next line, without its end. It fails where the connection has ended, on either side;
  /// with `not_found` where there are more than `most` bytes without one.
  void read(std::size_t most,
            std::function<void(boost::system::error_code error, std::string line)> took);
  /// The line goes when those before it have. `gone` is called when it has, or never can.
  void tell(std::string line, std::function<void()> gone = {});
  /// How many have not gone.
  [[nodiscard]] std::size_t untold() const { return untold_.size(); }
  [[nodiscard]] std::size_t untold_bytes() const { return untold_bytes_; }
  /// Ends the connection.
  void close();
  /// Tells a line before, if it can go at once.
  void close_with(const std::string& line);

 private:
  struct Untold {
    std::string line;
    std::function<void()> gone;
  };
  void write();

  UnixSocket socket_;
  std::string text_;           // read, and not taken
  std::deque<Untold> untold_;  // the first is being written
  std::size_t untold_bytes_ = 0;
};

/// Listens at a path, for the owner of this process alone (0600). No program that this process
/// starts will hold it open, or a connection to it.
class LineListener {
 public:
  using Took = std::function<void(UnixSocket socket)>;

  LineListener(boost::asio::any_io_executor executor, Took took);
  LineListener(const LineListener&) = delete;
  LineListener& operator=(const LineListener&) = delete;
  ~LineListener();

  /// In place of a socket that a dead process left. Fails with `bad_configuration` when the path is
  /// longer than the system can have or is no socket.
  Expected<> listen(const std::string& path);
  /// Accepts nobody any more, and removes the socket.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace net
}  // namespace muster
