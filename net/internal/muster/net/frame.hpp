#pragma once

#include <muster/host/frame.hpp>
#include <muster/values/failure.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The bytes on a connection between two nodes: little-endian, length-prefixed, checksummed frames.
///
///     length u32 | CRC-32 u32 | version u8 | kind u8 | body
///
/// `length` counts the bytes after it. The CRC-32 covers the bytes after it. The body is written
/// and read by the bounded archive of core. No other code interprets bytes from the network.
///
/// Two nodes of any two versions have to be able to greet each other. So three things never change:
/// this header, Hello and Refusal, whose version byte is always 2 (host::wire_of_greetings). All
/// other frames come after both Hellos, in the newest version that both nodes speak. A field or a
/// kind of frame that a later version adds is never sent to a node of an earlier one.

namespace MUSTER_EXPORT muster {
namespace net {

using host::Acknowledged;
using host::Asks;
using host::Carried;
using host::fits;
using host::Frame;
using host::frame_limit;
using host::Hello;
using host::NoAnswer;
using host::Piece;
using host::Refusal;
using host::RefusalReason;
using host::Role;
using host::StatusAnswer;
using host::StatusQuestion;
using host::wire_newest;
using host::wire_oldest;
using host::WireVersions;

/// The bytes of a frame in that version. Hello and Refusal always have the version of greetings. A
/// frame larger than `frame_limit` is an impossible state: see `fits`.
std::string encode_frame(const Frame& frame, std::uint8_t version = wire_newest);

/// Appends the bytes of a frame to `out`.
void append_frame(std::string& out, const Frame& frame, std::uint8_t version = wire_newest);

/// Reads frames from a stream of bytes, which can arrive in pieces of any size.
class FrameReader {
 public:
  /// The first frame may have at most `most_at_first` bytes. A longer first frame is refused as
  /// soon as its length is known.
  explicit FrameReader(std::size_t most_at_first = frame_limit, WireVersions spoken = {});

  /// The part of the buffer for the next bytes of the stream. This part is never empty. The buffer
  /// never grows beyond the size of the largest frame.
  std::span<char> room();
  /// The caller has put this many bytes into `room`.
  void filled(std::size_t bytes);

  /// The next complete frame; none if more bytes are needed. Fails if the stream does not contain a
  /// valid frame: the frame is too long, has another version, an unknown kind or a wrong checksum,
  /// or its body does not decode completely. After a failure the reader must not be used any more.
  Expected<std::optional<Frame>> next();

  /// The version of all frames after the greetings, in both directions. A received Hello sets it to
  /// the newest version that both sides speak.
  [[nodiscard]] std::uint8_t version() const { return taken_.newest; }

  /// The size in bytes of the frame that `next` returned last.
  [[nodiscard]] std::size_t last_size() const { return last_size_; }

  /// True if the stream begins as a stream of TLS does.
  [[nodiscard]] bool is_tls() const {
    return end_ - begin_ >= 2 && buffer_[begin_] == 22 && buffer_[begin_ + 1] == 3;
  }

  /// True if a part of a frame has been received and the rest has not.
  [[nodiscard]] bool partial() const { return begin_ != end_; }

 private:
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t last_size_ = 0;
  std::size_t most_;  ///< the most bytes that the next frame may have
  WireVersions spoken_;
  WireVersions taken_;  ///< the versions that are accepted, except for greetings
};

}  // namespace net
}  // namespace muster
