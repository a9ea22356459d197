#pragma once

#include "apps/base/process.hpp"

#include <muster/net/frame.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

/// Loopback sockets for peers that break the rules. No function waits for longer than its bound, or
/// reports an error, whatever the other side does.

namespace muster::test {

/// The time that the tests allow the other side for something that it should do at once. A machine
/// may be busy.
inline constexpr Duration wire_patience = std::chrono::seconds(10);

/// A connection.
class Wire {
 public:
  /// Dials that port of 127.0.0.1.
  explicit Wire(std::uint16_t port, Duration bound = wire_patience);
  explicit Wire(apps::Descriptor accepted);

  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }

  /// Writes as many bytes as the system takes at once. Returns false if the system did not take
  /// them all.
  bool say(std::string_view bytes);
  bool say(const net::Frame& frame) { return say(net::encode_frame(frame)); }
  /// The next frame of the other side. No value if the other side ends the connection or sends
  /// nothing.
  std::optional<net::Frame> hear(Duration bound = wire_patience);
  /// Ends the writing side of the connection.
  void finish();
  /// Ends the connection so that the other side reads an error.
  void reset();
  void close() { socket_ = {}; }

 private:
  apps::Descriptor socket_;
  net::FrameReader reader_;
};

/// A port that listens.
class Door {
 public:
  explicit Door(std::uint16_t port);
  [[nodiscard]] int fd() const { return socket_.fd(); }
  /// The next connection. If no connection comes within `bound`, the returned Wire is not open.
  Wire next(Duration bound);

 private:
  apps::Descriptor socket_;
};

}  // namespace muster::test
