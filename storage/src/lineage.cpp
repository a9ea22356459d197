#include "lineage.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>

#include <sqlite3.h>

#include <algorithm>

namespace muster::storage {

namespace {

constexpr std::string_view mark = "lineage:";
constexpr std::size_t numbers_size = 24;
constexpr std::size_t stored_size = mark.size() + numbers_size + 8;

std::string range(std::uint64_t first, std::uint64_t last) {
  if (first == last) return "commit " + std::to_string(first);
  return "commits " + std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace

Lineage new_lineage() {
  Lineage lineage;
  sqlite3_randomness(sizeof lineage.store, &lineage.store);
  return lineage;
}

std::string stored(const Lineage& lineage) {
  const std::string numbers = encode(lineage);
  return std::string(mark) + numbers + encode(digest(numbers));
}

std::optional<Lineage> lineage_of(std::string_view stored) {
  if (stored.size() != stored_size || !stored.starts_with(mark)) return std::nullopt;
  const std::string_view numbers = stored.substr(mark.size(), numbers_size);
  if (encode(digest(numbers)) != stored.substr(mark.size() + numbers_size)) return std::nullopt;
  const auto lineage = decode<Lineage>(numbers, {.foreign = false});
  return lineage ? std::optional(*lineage) : std::nullopt;
}

LatestCommits latest_commits_in(std::string_view log) {
  LatestCommits latest;
  for (std::size_t at = log.find(mark); at != std::string_view::npos; at = log.find(mark, at + 1)) {
    const auto lineage = lineage_of(log.substr(at, stored_size));
    if (!lineage) continue;
    std::uint64_t& commits = latest[lineage->store];
    commits = std::max(commits, lineage->commits);
  }
  return latest;
}

std::optional<Mismatch> mismatch(const Lineage& whole, const std::optional<Lineage>& alone,
                                 const LatestCommits& in_log) {
  if (alone && alone->store != whole.store) return Mismatch{true, "belongs to another store"};
  if (alone && alone->commits > whole.commits) {
    return Mismatch{true, "is older than the file beside it, which also has " +
                              range(whole.commits + 1, alone->commits)};
  }
  if (alone && alone->commits < whole.in_file) {
    return Mismatch{false, "is older than the log beside it, and neither has " +
                               range(alone->commits + 1, whole.in_file)};
  }
  const auto latest = in_log.find(whole.store);
  if (latest != in_log.end() && latest->second > whole.commits + 1)
    return Mismatch{true,
                    "is corrupt (it has lost " + range(whole.commits + 1, latest->second) + ")"};
  return std::nullopt;
}

}  // namespace muster::storage
