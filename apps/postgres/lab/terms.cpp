// How a node learns the term of its log: from markers, from rows, and from its record.

#include "apps/postgres/lab/postgres_world.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

// Before a node counts as a copy it records its term. So if the log reaches what was recorded, its
// term is at least the recorded one, although markers can be gone. Without a marker and without
// such a record, no group has begun in this log, and the term is the first one. If the log does not
// reach what was recorded, this node has lost data.
void take_recorded(Seen& seen, const Node& node, std::uint32_t records, bool marked) {
  const auto& recorded = node.at_least;
  if (!recorded && !marked) seen.holding.term = node.data.log.front().term;
  if (!recorded || recorded->term.group <= seen.holding.term.group) return;
  if (!has(node.data.log, records, recorded->term.timeline, recorded->lsn)) {
    seen.at_least = recorded;
    return;
  }
  seen.holding.term = recorded->term;
  seen.holding.copies = recorded->copies;
}

}  // namespace

Seen look_at(const Options& options, const Node& node, std::uint32_t records, bool primary) {
  const Log held(node.data.log.begin(), node.data.log.begin() + records);
  Seen seen{{the_system, {}, Lsn{records}, timeline_of(held), primary}};
  Holding& holding = seen.holding;
  holding.copies = copies_of(options, 1);
  const auto take = [&](const Listed& listed) {
    holding.term = listed.term;
    holding.copies = copies_of(options, listed.generation);
  };
  const auto marker = marker_in(held, node.data.kept, records, options.struck);
  const Listed row = greatest_row(held, records);
  const bool rows_ended = node.rows_ended || (marker && marker->rows_ended);
  const bool rows_count = !rows_ended && stands(options.struck, Line::rows_count_until_all_know);
  const bool only_rows = node.old || !stands(options.struck, Line::markers_decide);
  if (!only_rows && marker && (!rows_count || marker->term.group >= row.term.group))
    take({marker->term, marker->generation});
  else if (only_rows || rows_count)
    take(row);
  if (!only_rows) take_recorded(seen, node, records, marker || rows_count);
  const auto fork = std::find_if(held.begin(), held.end(), [&](const Record& record) {
    return record.timeline > holding.term.timeline;
  });
  if (fork != held.end() && holding.term != Term{} &&
      stands(options.struck, Line::fork_is_left_out))
    holding.lsn = Lsn{static_cast<std::uint64_t>(fork - held.begin())};
  return seen;
}

bool shows_group(const Options& options, const Node& node, GroupNumber group) {
  const Data& data = node.data;
  const bool rows_only = node.old || !stands(options.struck, Line::markers_decide);
  const auto marker = marker_in(data.log, data.kept, data.flushed, options.struck);
  if (!rows_only && marker && marker->term.group == group) return true;
  if (!rows_only && (node.rows_ended || !stands(options.struck, Line::rows_count_until_all_know)))
    return false;
  const std::vector<Listed> table = table_of(data.log, data.flushed);
  return std::any_of(table.begin(), table.end(),
                     [&](const Listed& row) { return row.term.group == group; });
}

bool has_lost(const Options& options, const Node& node) {
  return node.at_least &&
         is_below(look_at(options, node, node.data.flushed, false).holding, *node.at_least);
}

// A node records a term apart from its data, before it counts as a copy in that term. The version
// before does not.
void Making::records_term(NodeId node, const Listed& held) const {
  Node& own = node_at(world, node);
  if (own.old || !stands(options.struck, Line::counted_is_recorded)) return;
  if (own.at_least && held.term.group <= own.at_least->term.group) return;
  own.at_least = Held{the_system, held.term, held.term.lsn, copies_of(options, held.generation)};
}

std::optional<Term> repeated_term(const PostgresWorld& world, NodeId node, const Options& options) {
  const Node& own = node_at(world, node);
  if (own.old || !own.life || !own.postgres || own.postgres->orphan || own.postgres->draining ||
      !stands(options.struck, Line::markers_repeat))
    return std::nullopt;
  // A primary makes the slots of its group when it has marked the term.
  const Term term = true_term_of(own.data.log);
  return own.data.slots == term.group ? std::optional(term) : std::nullopt;
}

// Before the primary is open, the newest commits can be in a log that has a row and no marker. If
// that node ignored its row, it would report less than it has.
bool may_end_rows(const PostgresWorld& world, NodeId node, const Options& options) {
  if (!is_open(world, node)) return false;
  const Copies copies = copies_of(options, node_at(world, node).generation);
  return std::all_of(copies.nodes.begin(), copies.nodes.end(), [&](NodeId other) {
    return !node_at(world, other).old && reach(world, node, other);
  });
}

}  // namespace muster::postgres::lab
