#include "apps/postgres/lab/log.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

/// Where each timeline of a log begins, ascending.
std::vector<std::pair<std::uint32_t, std::uint32_t>> beginnings(const Log& log) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (std::uint32_t at = 0; at < log.size(); ++at)
    if (found.empty() || found.back().first != log[at].timeline)
      found.emplace_back(log[at].timeline, at);
  return found;
}

Term row_at(const Log& log, std::uint32_t at) {
  return {log[at].group, log[at].by, log[at].timeline, Lsn{at}};
}

}  // namespace

std::uint32_t timeline_of(const Log& log) {
  return log.empty() ? 0 : log.back().timeline;
}

// Rows of a log ascend.
Term term_of(const Log& log, std::uint32_t records) {
  for (std::uint32_t at = records; at-- > 0;)
    if (log[at].kind == Kind::row) return row_at(log, at);
  return {};
}

std::uint32_t generation_of(const Log& log, std::uint32_t records) {
  for (std::uint32_t at = records; at-- > 0;)
    if (log[at].kind == Kind::row) return log[at].generation;
  return 1;
}

Lineage lineage_of(const Log& log, std::uint32_t records) {
  Lineage lineage;
  for (std::uint32_t at = 0; at < records; ++at) {
    if (log[at].kind == Kind::row) lineage.terms.push_back(row_at(log, at));
    if (at > 0 && log[at].timeline != log[at - 1].timeline)
      lineage.ends_of_timelines.emplace(log[at - 1].timeline, Lsn{at});
  }
  lineage.timeline = records == 0 ? 0 : log[records - 1].timeline;
  return lineage;
}

bool would_send(const Log& primary, std::uint32_t records, const Log& standby) {
  if (standby.empty()) return true;
  if (standby.size() > records) return false;
  const std::uint32_t timeline = timeline_of(standby);
  const auto of_timeline =
      std::find_if(primary.rbegin(), primary.rend(),
                   [&](const Record& record) { return record.timeline == timeline; });
  return of_timeline != primary.rend() &&
         standby.size() <= static_cast<std::size_t>(primary.rend() - of_timeline);
}

std::uint32_t parting(const Log& source, const Log& target) {
  const auto of_source = beginnings(source);
  const auto of_target = beginnings(target);
  std::size_t same = 0;
  while (same < of_source.size() && same < of_target.size() && of_source[same] == of_target[same])
    ++same;
  const auto end = [&](const auto& timelines, const Log& log) {
    return same < timelines.size() ? timelines[same].second
                                   : static_cast<std::uint32_t>(log.size());
  };
  return std::min(end(of_source, source), end(of_target, target));
}

std::uint32_t common(const Log& one, const Log& other) {
  const auto parts = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  return static_cast<std::uint32_t>(parts.first - one.begin());
}

}  // namespace muster::postgres::lab
