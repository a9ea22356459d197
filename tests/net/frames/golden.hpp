#pragma once

#include <muster/net/frame.hpp>
#include <muster/values/text.hpp>

#include <string>
#include <vector>

namespace muster::net {

using muster::operator<<;

}  // namespace muster::net

/// The golden frames: what this release and all that can talk to it put on a wire.

namespace muster::test {

struct Golden {
  std::string name;
  net::Frame frame;
  std::string bytes;  ///< what tests/net/golden/NAME.hex says
};

/// In wire version 2: one for each kind of frame, of message and of answer that it has.
std::vector<Golden> golden_frames();
/// What wire version 3 adds.
std::vector<Golden> golden_frames_of_3();

/// The same frame after its length and its checksum were made right again.
std::string repaired(std::string bytes);

/// The bytes that pairs of hexadecimal digits stand for; lines that begin with # are left out.
std::string bytes_of(const std::string& hexadecimal);

/// Gives the reader that part of a stream, as much at a time as it has room for, and appends the
/// frames that come out. The failure is the reader's.
Expected<> feed(net::FrameReader& reader, std::string_view stream, std::vector<net::Frame>& frames);

}  // namespace muster::test
