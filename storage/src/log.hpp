#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::storage {

inline constexpr std::size_t log_header_size = 32;
inline constexpr std::size_t frame_header_size = 24;

/// The content of a log beside its file. SQLite applies a log up to the first frame with a wrong
/// checksum and forgets every later commit. After a power cut this is right, because a power cut
/// can only damage the commit that was not acknowledged. After any other damage SQLite loses
/// acknowledged commits in this way. The lineage tells the two cases apart.
enum class LogContent {
  nothing,  ///< no commit: a power cut came while the log was started; the file is complete
  commits,
  commits_and_rest,  ///< commits, then a bad frame, then more frames of the same round
};
LogContent content_of_log(std::string_view bytes);

/// Checks a log without a valid header. False if no power cut can have left these bytes.
bool may_be_cut_off(std::string_view bytes);

/// A header for restarting a log that has no commits, with salts that were never used. SQLite would
/// go on with the salts that it finds, and could then apply frames that a power cut left behind.
std::string header_of_another_round(std::string_view log);

}  // namespace muster::storage
