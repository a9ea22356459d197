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

/// Who a connection belongs to: told of what comes on it. May close it, or hand it on to another
/// owner.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual void came(Connection& connection, Frame frame) = 0;
  /// Everything that came was given to `came`; nothing more will. The connection is closed.
  virtual void ended(Connection& connection, ConnectionEnd end, const std::string& why) = 0;
  /// There is room again for bytes to be written.
  virtual void writable(Connection& connection) = 0;
  /// Each time that a connection has done what it was woken for.
  virtual void turn_ended() = 0;
};

/// One TCP connection: frames in, bytes out, both without waiting; by TLS where it has a channel.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// Its first frame has at most so many bytes; `spoken` are the wire versions of this side.
  Connection(Tcp::socket socket, WireVersions spoken, Duration frame_deadline, Counters& counters,
             std::size_t most_at_first = frame_limit, std::unique_ptr<Channel> channel = {});

  void belongs_to(ConnectionOwner* owner) { owner_ = owner; }
  /// By which its owner knows it.
  host::ConnectionId number{};
  /// Begins to read.
  void start();

  /// Puts a frame where it waits for `flush`, in the version that both sides speak, and gives its
  /// bytes.
  std::size_t put(const Frame& frame);
  /// So many bytes wait there.
  [[nodiscard]] std::size_t waiting() const { return out_.size(); }
  /// Writes them, as far as that goes without waiting.
  void flush();
  /// All that was put there has gone.
  [[nodiscard]] bool idle() const;

  /// Gives `came` all that can be read at this moment, and `ended` if that is the end.
  void read_now();

  void close();
  [[nodiscard]] bool closed() const { return closed_; }
  /// The bytes of the frame that `came` was called with.
  [[nodiscard]] std::size_t frame_size() const { return reader_.last_size(); }
  /// Who the other side has proven to be; none where nobody has to.
  [[nodiscard]] std::optional<NodeId> proven() const;
  /// Whether a certificate by which it was proven has ended by then.
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
  std::size_t wire_begin_ = 0;         ///< so much of `wire` has gone
  std::optional<ChannelEnd> parting_;  ///< why all that still comes is thrown away
  bool waits_to_write_ = false;
  bool watches_frame_ = false;
  std::uint64_t frames_ = 0;  // that came whole
  bool write_failed_ = false;
  bool closed_ = false;
};

}  // namespace muster::net
