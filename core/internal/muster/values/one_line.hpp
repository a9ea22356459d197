#pragma once

#include <muster/detail/values/export.hpp>

#include <cstddef>
#include <string>
#include <string_view>

/// Text of somebody else in a sentence of ours.

namespace MUSTER_EXPORT muster {

/// How many bytes the well-formed UTF-8 sequence at the beginning of `text` has; 0: there is none.
std::size_t utf8_sequence(std::string_view text);

/// The text as a log or a terminal bears it: in one line of UTF-8, without control characters, and
/// so many bytes of it at most.
std::string one_line(std::string_view text, std::size_t most);

}  // namespace muster
