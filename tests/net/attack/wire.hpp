#pragma once

#include "apps/base/process.hpp"

#include <muster/net/frame.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

/// Sockets of loopback for somebody who need not keep to the rules. Nothing here waits for longer
/// than its bound, and whatever the other side does is no error.

namespace muster::test {

/// How long the other side may take for what it is to do at once; a machine may be busy.
inline constexpr Duration wire_patience = std::chrono::seconds(10);

/// A connection.
class Wire {
 public:
  /// Dials that port of 127.0.0.1.
  explicit Wire(std::uint16_t port, Duration bound = wire_patience);
  explicit Wire(apps::Descriptor accepted);

  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }

  /// Writes what the system takes at once; false when it did not take all.
  bool say(std::string_view bytes);
  bool say(const net::Frame& frame) { return say(net::encode_frame(frame)); }
  /// The next frame of the other side; none where it ends the connection, or does not speak.
  std::optional<net::Frame> hear(Duration bound = wire_patience);
  /// Nothing more will be said.
  void finish();
  /// Ends it so that the other side reads an error.
  void reset();
  void close() { socket_ = {}; }

 private:
  apps::Descriptor socket_;
  net::FrameReader reader_;
};

/// A port at which somebody listens.
class Door {
 public:
  explicit Door(std::uint16_t port);
  [[nodiscard]] int fd() const { return socket_.fd(); }
  /// The next connection; one that is not open when none comes.
  Wire next(Duration bound);

 private:
  apps::Descriptor socket_;
};

}  // namespace muster::test
