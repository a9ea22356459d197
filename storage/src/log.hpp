#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::storage {

inline constexpr std::size_t log_header_size = 32;
inline constexpr std::size_t frame_header_size = 24;

/// What a log has to add to the file beside it. SQLite takes a log up to the first frame whose
/// checksum is wrong, and forgets all that was committed after it: right after a power cut, which
/// can only hurt the commit that was not acknowledged, wrong after any other damage. Which it was
/// the lineage tells.
enum class LogContent {
  nothing,  ///< no commit: it was cut off when it was begun, and the file has all that was before
  commits,
  commits_and_rest,  ///< and frames of the same round behind one that does not hold
};
LogContent content_of_log(std::string_view bytes);

/// Where a log has no header that holds: false where the power cannot have cut one off, for these
/// are the bytes of something else.
bool may_be_cut_off(std::string_view bytes);

/// The header with which a log without commits is begun anew, by other salts than any before:
/// SQLite would go on under those that it finds, and take up frames that a cut has left.
std::string header_of_another_round(std::string_view log);

}  // namespace muster::storage
