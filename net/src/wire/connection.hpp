#pragma once

#include "base/sockets.hpp"
#include "tls/channel.hpp"

#include <muster/net/frame.hpp>
#include <muster/net/sessions.hpp>

#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace muster::net {

using host::ConnectionEnd;

class Connection;

/// The owner of a connection, which receives its events. It may close the connection, or give it to
/// another owner.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual void on_frame(Connection& connection, Frame frame) = 0;
  /// The connection is closed. By then `on_frame` has received all complete frames.
  virtual void on_connection_ended(Connection& connection, ConnectionEnd end,
                                   const std::string& why) = 0;
  /// The connection can take more bytes to write.
  virtual void writable(Connection& connection) = 0;
  /// Called each time when a connection has finished its work for one event of the executor.
  virtual void turn_ended() = 0;
};

/// One TCP connection. The object turns received bytes into frames, and frames into bytes, and
/// never waits. If the connection has a channel, TLS encrypts the bytes.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// The first frame may have at most `most_at_first` bytes. `spoken` are the wire versions of this
  /// side.
  Connection(Tcp::socket socket, WireVersions spoken, Duration frame_deadline, Counters& counters,
             std::size_t most_at_first = frame_limit, std::unique_ptr<Channel> channel = {});

  void belongs_to(ConnectionOwner* owner) { owner_ = owner; }
  /// The number by which the owner identifies this connection.
  host::ConnectionId number{};
  /// Starts to read.
  void start();

  /// Adds a frame to the output that waits for `flush`, in the version that both sides speak.
  /// Returns the frame's size in bytes.
  std::size_t put(const Frame& frame);
  /// The number of bytes that wait for `flush`.
  [[nodiscard]] std::size_t waiting() const { return out_.size(); }
  /// Writes the waiting output, as far as possible without waiting.
  void flush();
  /// True if all output has been written.
  [[nodiscard]] bool idle() const;

  /// Reads all that can be read at this moment. Passes each frame to `on_frame`, and calls
  /// `on_connection_ended` if the connection has ended.
  void read_now();

  void close();
  [[nodiscard]] bool closed() const { return closed_; }
  /// The size in bytes of the frame with which `on_frame` was called.
  [[nodiscard]] std::size_t frame_size() const { return reader_.last_size(); }
  /// The node that the peer has proven to be; none without TLS. An observer has the id 0.
  [[nodiscard]] std::optional<NodeId> proven() const;
  /// True if the peer was authenticated by a certificate that has expired at `now`.
  [[nodiscard]] bool outlasts_its_proof(std::chrono::system_clock::time_point now) const;

 private:
  void wait_to_read();
  void wait_to_write();
  void read(std::size_t most, bool to_the_end);
  void decrypt(std::string_view encrypted);
  void take_frames();
  void part(const ChannelEnd& end);
  void watch_partial_frame();
  std::string& wire();
  void finish(const std::string& why);
  void end(ConnectionEnd end, const std::string& why);

  Tcp::socket socket_;
  boost::asio::steady_timer frame_timer_;
  Duration frame_deadline_;
  Counters& counters_;
  ConnectionOwner* owner_ = nullptr;
  FrameReader reader_;
  std::unique_ptr<Channel> channel_;
  std::string out_;
  std::size_t wire_begin_ = 0;         ///< this many bytes of `wire` have been written
  std::optional<ChannelEnd> parting_;  ///< why all further input is thrown away
  bool waits_to_write_ = false;
  bool watches_frame_ = false;
  std::uint64_t frames_ = 0;  // complete frames that were received
  bool write_failed_ = false;
  bool closed_ = false;
};

}  // namespace muster::net
