#pragma once

#include <muster/values/describe.hpp>

#include <algorithm>
#include <vector>

/// Lines of the design that the lab takes out, one at a time, to see what each is for.

namespace muster::postgres {

enum class Line {
  groups_are_the_order,   ///< the freshest is the maximum by (term, lsn), not by (timeline, lsn)
  present_primary_stays,  ///< of equals the one is chosen that is a primary
  heir_is_equal,          ///< to whom it was handed over is chosen among equals alone
  prefix_by_row,          ///< who follows at once is on the timeline of its greatest row
  prefix_is_sealed,       ///< and was no primary, whose log goes on growing behind its seal
  shown_before_ended,     ///< walsenders are ended when a new connection shows the sealed names
  names_are_the_gate,     ///< who is sealed has sealed names; without it, is read-only alone
  names_never_relaxed,    ///< who has lost its standbys acknowledges nothing
  row_of_the_group,       ///< a primary writes its row before it opens
  row_is_copied,          ///< and opens when W - 1 standbys have flushed it
  receiver_ends_first,    ///< a standby is sealed when no walreceiver is there any more
  held_counts,            ///< a node that is being mended counts for R
  held_is_not_chosen,     ///< and is not chosen as though it still had what it held
  held_is_a_bound,        ///< and who is chosen is not below it
  mended_under_no_name,   ///< a node that is being mended acknowledges nothing
  one_walsender_each,     ///< a standby that has connected again counts once
  group_in_every_follow,  ///< a standby follows a primary in that group alone in which it was told
  restored_counts_for_nothing,  ///< who has less than it once had may lack what it acknowledged
  list_before_counts,  ///< another list of nodes begins with enough of those of the one before

  // With a witness.
  holders_are_chosen,       ///< only who holds each commit by the latest promise
  holders_held_all_before,  ///< who only begins to follow is promised for nothing yet
  promise_is_known_first,   ///< a primary goes on alone when all members have the promise
  demand_is_in_force,       ///< a copy is complete from when no session passes by it any more
  demand_is_copied,         ///< and has flushed all that was written until then
};
MUSTER_DESCRIBE_ENUM(Line, groups_are_the_order, present_primary_stays, heir_is_equal,
                     prefix_by_row, prefix_is_sealed, shown_before_ended, names_are_the_gate,
                     names_never_relaxed, row_of_the_group, row_is_copied, receiver_ends_first,
                     held_counts, held_is_not_chosen, held_is_a_bound, mended_under_no_name,
                     one_walsender_each, group_in_every_follow, restored_counts_for_nothing,
                     list_before_counts, holders_are_chosen, holders_held_all_before,
                     promise_is_known_first, demand_is_in_force, demand_is_copied)

/// The lines that are taken out; empty everywhere but in the lab.
using Struck = std::vector<Line>;

/// True when the line stands.
inline bool stands(const Struck& struck, Line line) {
  return struck.empty() || std::find(struck.begin(), struck.end(), line) == struck.end();
}

}  // namespace muster::postgres
