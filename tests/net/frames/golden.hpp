#pragma once

#include <muster/net/frame.hpp>
#include <muster/values/text.hpp>

#include <string>
#include <vector>

namespace muster::net {

using muster::operator<<;

}  // namespace muster::net

/// The golden frames: the bytes that this release sends, as does every release that can talk to it.

namespace muster::test {

struct Golden {
  std::string name;
  net::Frame frame;
  std::string bytes;  ///< the contents of tests/net/golden/NAME.hex
};

/// The frames in wire version 2: one for each of its kinds of frame, message and answer.
std::vector<Golden> golden_frames();
/// The frames that wire version 3 has added.
std::vector<Golden> golden_frames_of_3();

/// The same frame with its length and its checksum corrected.
std::string repaired(std::string bytes);

/// The bytes for pairs of hexadecimal digits. Lines that begin with # are left out.
std::string bytes_of(const std::string& hexadecimal);

/// Gives the reader a stream, in pieces for which the reader has room. Appends the frames that it
/// reads to `frames`. Returns the reader's failure.
Expected<> feed(net::FrameReader& reader, std::string_view stream, std::vector<net::Frame>& frames);

}  // namespace muster::test
