#pragma once

#include <muster/detail/values/export.hpp>

#include <cstddef>
#include <string>
#include <string_view>

/// Text from other programs, made safe to quote in a message.

namespace MUSTER_EXPORT muster {

/// The length in bytes of the well-formed UTF-8 sequence at the beginning of `text`; 0 if there is
/// none.
std::size_t utf8_sequence(std::string_view text);

/// The text made safe for a log or a terminal: one line of UTF-8 without control characters, at
/// most `most` bytes.
std::string one_line(std::string_view text, std::size_t most);

}  // namespace muster
