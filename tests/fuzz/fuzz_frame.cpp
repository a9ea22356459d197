#include "fuzz/types.hpp"

#include <muster/net/frame.hpp>
#include <muster/values/archive.hpp>

#include <algorithm>
#include <cstring>

namespace muster::fuzz {
namespace {

// Corrects the length and the checksum of a frame, as an attacker would.
std::string repaired(std::string bytes) {
  const auto put = [&bytes](std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> (8 * i));
  };
  if (bytes.size() < 8) return bytes;
  put(0, static_cast<std::uint32_t>(bytes.size() - 4));
  put(4, checksum(std::string_view(bytes).substr(8)));
  return bytes;
}

// The place of the wire version in a frame.
constexpr std::size_t version_at = 8;

// Reads a stream, at most `step` bytes at a time. Then the function writes each frame in the
// frame's own wire version, which must give the same bytes.
void read_stream(std::string_view stream, std::size_t step) {
  net::FrameReader reader;
  std::string written;
  for (std::string_view left = stream; !left.empty();) {
    const std::span<char> room = reader.room();
    require(!room.empty() && room.size() <= net::frame_limit + 4);
    const std::size_t size = std::min({step, room.size(), left.size()});
    std::memcpy(room.data(), left.data(), size);
    reader.filled(size);
    left.remove_prefix(size);
    for (;;) {
      const auto frame = reader.next();
      if (!frame) return;
      if (!*frame) break;
      const auto version = static_cast<std::uint8_t>(stream[written.size() + version_at]);
      net::append_frame(written, **frame, version);
      require(stream.starts_with(written));
    }
  }
  require(reader.partial() == (written.size() < stream.size()));
}

}  // namespace
}  // namespace muster::fuzz

/// The first byte selects how many bytes arrive at a time, and whether length and checksum are
/// corrected.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t step = data[0] / 2 + 1u;
  muster::fuzz::read_stream(data[0] % 2 == 1 ? muster::fuzz::repaired(bytes) : bytes, step);
  return 0;
}
