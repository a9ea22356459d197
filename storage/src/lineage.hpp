#pragma once

#include <muster/values/describe.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster::storage {

using muster::operator==;

/// Which store a commit is of, and which of its commits. Every commit writes it, so that the file
/// alone, the file with its log, and each commit that stands in a log say by themselves what has to
/// be there.
struct Lineage {
  std::uint64_t store{};    ///< random, drawn when the store is made
  std::uint64_t commits{};  ///< how many it has, this one included
  std::uint64_t in_file{};  ///< how many of them were in the file when the log was begun
};
MUSTER_DESCRIBE(Lineage, store, commits, in_file);

/// Of a store that is being made.
Lineage new_lineage();

/// As it stands in the store: with a mark to be found by, and a checksum.
std::string stored(const Lineage& lineage);
/// None where the bytes are no such thing, or were changed.
std::optional<Lineage> lineage_of(std::string_view stored);

/// The last commit of each store of which something stands in a log, whether it was whole or not.
using LatestCommits = std::map<std::uint64_t, std::uint64_t>;
LatestCommits latest_commits_in(std::string_view log);

/// What speaks against a file and its log, as the end of "FILE ...", and which of them it is.
struct Mismatch {
  bool of_log{};  ///< of the file otherwise
  std::string why;
};
/// `whole` is what the two make together, `alone` what the file says where it could be read without
/// its log. The power can cut off one commit, the last.
std::optional<Mismatch> mismatch(const Lineage& whole, const std::optional<Lineage>& alone,
                                 const LatestCommits& in_log);

}  // namespace muster::storage
