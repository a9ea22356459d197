#pragma once

#include <muster/values/describe.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster::storage {

using muster::operator==;

/// The identity of a commit: the store that it belongs to, and its number there. Every commit
/// writes its lineage. So the file alone, the file with its log, and each commit in the log tell
/// which commits have to exist.
struct Lineage {
  std::uint64_t store{};    ///< random, drawn when the store is made
  std::uint64_t commits{};  ///< the number of commits so far, including this one
  std::uint64_t in_file{};  ///< how many commits the file had when the log was started
};
MUSTER_DESCRIBE(Lineage, store, commits, in_file);

/// The lineage of a new store.
Lineage new_lineage();

/// The form in which a lineage is stored: a mark to search for, the numbers, and a checksum.
std::string stored(const Lineage& lineage);
/// The lineage in these bytes; none if they are not a lineage, or have changed.
std::optional<Lineage> lineage_of(std::string_view stored);

/// For each store that occurs in the bytes of a log, the number of its last commit there. Frames
/// that SQLite would not apply count too.
using LatestCommits = std::map<std::uint64_t, std::uint64_t>;
LatestCommits latest_commits_in(std::string_view log);

/// A contradiction between a file and its log. `why` is a clause to follow the name of the file at
/// fault.
struct Mismatch {
  bool of_log{};  ///< true: the log is at fault; false: the file is
  std::string why;
};
/// Compares three things: `whole`, the lineage that is read from the file and its log together;
/// `alone`, that of the file without its log, if it can be read; and `in_log`, the commits in the
/// log. The log is allowed to end with one commit more than `whole`: a power cut can cut off the
/// last commit, which was not acknowledged. If two commits are lost, the store is damaged.
std::optional<Mismatch> mismatch(const Lineage& whole, const std::optional<Lineage>& alone,
                                 const LatestCommits& in_log);

}  // namespace muster::storage
