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

/// What travels on a connection between two nodes: little-endian, length-prefixed, checksummed
/// frames.
///
///     length u32 | CRC-32 u32 | version u8 | kind u8 | body
///
/// `length` counts all that follows it, the CRC-32 is of all that follows that. The body is written
/// and read by the bounded archive of core. Bytes of the network never reach another reader.
///
/// What stays for ever: this header, and Hello and Refusal, which are in version 2 to the byte
/// (host::wire_of_greetings). All other frames come after both Hellos, in the newest version that
/// both speak; what a later version adds to them, or new ones, is said to nobody of an earlier one.

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

/// The bytes of a frame in that version, which a greeting does not have. A frame beyond
/// `frame_limit` is an impossible state: see `fits`.
std::string encode_frame(const Frame& frame, std::uint8_t version = wire_newest);

/// Appends them.
void append_frame(std::string& out, const Frame& frame, std::uint8_t version = wire_newest);

/// Takes frames out of a stream of bytes that may be cut anywhere.
class FrameReader {
 public:
  /// A first frame of more than `most_at_first` bytes is none: it is refused by its length, unread.
  explicit FrameReader(std::size_t most_at_first = frame_limit, WireVersions spoken = {});

  /// Where the next bytes of the stream go: never empty, and never more room than `frame_limit`
  /// needs.
  std::span<char> room();
  /// That many bytes were put there.
  void filled(std::size_t bytes);

  /// The next whole frame; none when more bytes are needed; a failure when the stream is no stream
  /// of frames: too long, another version, an unknown kind, a wrong checksum, a body that is no
  /// such value or has bytes left over. After a failure the reader is not to be used any more.
  Expected<std::optional<Frame>> next();

  /// The version of what follows, in both directions: since a Hello came, the newest that its
  /// sender speaks too.
  [[nodiscard]] std::uint8_t version() const { return taken_.newest; }

  /// The bytes of the frame that `next` gave last.
  [[nodiscard]] std::size_t last_size() const { return last_size_; }

  /// True where the stream begins as one of TLS does.
  [[nodiscard]] bool is_tls() const {
    return end_ - begin_ >= 2 && buffer_[begin_] == 22 && buffer_[begin_ + 1] == 3;
  }

  /// True when part of a frame has come and the rest has not.
  [[nodiscard]] bool partial() const { return begin_ != end_; }

 private:
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t last_size_ = 0;
  std::size_t most_;  ///< bytes of the next frame
  WireVersions spoken_;
  WireVersions taken_;  ///< of frames that are no greetings
};

}  // namespace net
}  // namespace muster
