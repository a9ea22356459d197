#include "apps/postgres/lab/log.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

/// The position where each timeline of a log begins, in ascending order.
std::vector<std::pair<std::uint32_t, std::uint32_t>> beginnings(const Log& log) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (std::uint32_t at = 0; at < log.size(); ++at)
    if (found.empty() || found.back().first != log[at].timeline)
      found.emplace_back(log[at].timeline, at);
  return found;
}

/// How far behind the position that it names a marker still counts.
constexpr std::uint32_t longest_way_to_marker = 4;

}  // namespace

std::uint32_t timeline_of(const Log& log) {
  return log.empty() ? 0 : log.back().timeline;
}

Term true_term_of(const Log& log) {
  const auto last = std::find_if(log.rbegin(), log.rend(), [](const Record& record) {
    return (record.kind == Kind::marker || record.kind == Kind::row) &&
           record.author == Author::muster;
  });
  return last == log.rend() ? Term{} : last->term;
}

namespace {

bool is_of_its_place(const Log& log, const Record& marker, std::uint32_t at) {
  if (marker.at > at || at > marker.at + longest_way_to_marker || marker.at == 0) return false;
  const Record& before = log[marker.at - 1];
  return before.by == marker.after && before.number == marker.after_number;
}

}  // namespace

bool is_valid(const Log& log, const Record& record, std::uint32_t at, const Struck& struck) {
  if (record.kind != Kind::marker || record.timeline != record.term.timeline) return false;
  if (record.author == Author::forger && stands(struck, Line::markers_are_signed)) return false;
  return !stands(struck, Line::marker_is_of_its_place) || is_of_its_place(log, record, at);
}

std::optional<Record> marker_in(const Log& log, std::uint32_t kept, std::uint32_t records,
                                const Struck& struck) {
  std::optional<Record> greatest;
  for (std::uint32_t at = records; at-- > kept;) {
    if (!is_valid(log, log[at], at, struck)) continue;
    if (!greatest || greatest->term.group < log[at].term.group) greatest = log[at];
    if (!stands(struck, Line::marker_is_of_its_place)) break;
    if (greatest->term == log[at].term) greatest->rows_ended |= log[at].rows_ended;
  }
  return greatest;
}

std::vector<Listed> table_of(const Log& log, std::uint32_t records) {
  std::vector<Listed> rows;
  for (std::uint32_t at = 0; at < records; ++at) {
    if (log[at].kind == Kind::rows) rows.clear();
    if (log[at].kind == Kind::row || log[at].kind == Kind::rows)
      rows.push_back({log[at].term, log[at].generation});
  }
  return rows;
}

Listed greatest_row(const Log& log, std::uint32_t records) {
  Listed greatest;
  for (const Listed& row : table_of(log, records))
    if (greatest.term.group <= row.term.group) greatest = row;
  return greatest;
}

bool has(const Log& log, std::uint32_t records, std::uint32_t timeline, Lsn lsn) {
  for (std::uint32_t end = records; end > 0; --end)
    if (log[end - 1].timeline == timeline) return lsn.value <= end;
  return false;
}

Lineage timelines_of(const Log& log, std::uint32_t records) {
  Lineage lineage;
  for (std::uint32_t at = 1; at < records; ++at)
    if (log[at].timeline != log[at - 1].timeline)
      lineage.ends_of_timelines.emplace(log[at - 1].timeline, Lsn{at});
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
