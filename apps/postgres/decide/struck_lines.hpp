#pragma once

#include <muster/values/describe.hpp>

#include <algorithm>
#include <vector>

/// The rules of the design that the lab can strike out, one at a time, to show what each rule is
/// for.

namespace muster::postgres {

enum class Line {
  /// The freshest node is the maximum by (term, lsn), not by (timeline, lsn).
  groups_are_the_order,
  present_primary_stays,  ///< among equals, a node that is primary already is chosen
  heir_is_equal,          ///< the node that is handed over to is chosen only among equals
  fork_is_left_out,       ///< a report leaves out log after the timeline of its greatest term
  prefix_by_term,      ///< a node follows at once only if its timeline is that of its greatest term
  prefix_is_sealed,    ///< a former primary never follows at once: its log grows though sealed
  names_are_fixed,     ///< the standby names are on the command line, not in a file
  slots_are_the_gate,  ///< a seal drops the slots, and does not only end the walsenders
  slots_end_first,     ///< a server that starts has no slots of an earlier group
  short_files_go,      ///< a server that starts does not read a WAL file that came in part
  names_never_relaxed,     ///< a primary that has lost its standbys acknowledges nothing
  marker_of_the_group,     ///< a primary writes its marker before it opens
  marker_before_name,      ///< a node counts as a copy only once it has the marker of its group
  receiver_ends_first,     ///< a standby is sealed only when it has no walreceiver any more
  held_counts,             ///< a node that is being rewound or cloned counts towards R
  held_is_not_chosen,      ///< a node in a rewind or clone is not chosen: it may have lost data
  held_is_a_bound,         ///< no node is chosen that holds less than one in a rewind or clone held
  resynced_under_no_name,  ///< a node that is being rewound or cloned acknowledges nothing
  one_walsender_each,      ///< a standby that has reconnected is counted once, not twice
  gone_log_is_cloned,      ///< a standby whose next log is gone at its primary is cloned
  group_in_every_follow,   ///< a standby follows a primary only in the group that it was told
  restored_does_not_count,  ///< a node's data does not count if the node once had more
  list_before_counts,  ///< a new list of nodes begins only with enough nodes of the list before
  files_are_evidence,  ///< a standby that admits no session is looked at through its files

  // Markers.
  markers_repeat,          ///< a primary writes its marker again, so the log that is kept has one
  markers_are_signed,      ///< a marker counts only if a node has signed it
  marker_is_of_its_place,  ///< a marker does not count at another position than its own
  markers_decide,          ///< the table that people can rewrite does not count
  rows_count_until_all_know,  ///< rows count until all nodes of the list read markers
  counted_is_recorded,        ///< a node records its group's marker before it counts as a copy

  // With a witness.
  holders_are_chosen,       ///< only a node that the latest promise names as a holder is chosen
  holders_held_all_before,  ///< a node that has only begun to follow is not named as a holder yet
  promise_is_known_first,   ///< a primary goes on alone only when all members have the promise
  demand_is_in_force,       ///< a copy counts as complete only when every commit waits for it
  demand_is_copied,         ///< a copy counts as complete only when it has flushed all earlier log
};
MUSTER_DESCRIBE_ENUM(Line, groups_are_the_order, present_primary_stays, heir_is_equal,
                     fork_is_left_out, prefix_by_term, prefix_is_sealed, names_are_fixed,
                     slots_are_the_gate, slots_end_first, short_files_go, names_never_relaxed,
                     marker_of_the_group, marker_before_name, receiver_ends_first, held_counts,
                     held_is_not_chosen, held_is_a_bound, resynced_under_no_name,
                     one_walsender_each, gone_log_is_cloned, group_in_every_follow,
                     restored_does_not_count, list_before_counts, files_are_evidence,
                     markers_repeat, markers_are_signed, marker_is_of_its_place, markers_decide,
                     rows_count_until_all_know, counted_is_recorded, holders_are_chosen,
                     holders_held_all_before, promise_is_known_first, demand_is_in_force,
                     demand_is_copied)

/// The rules that are struck out. Empty everywhere except in the lab.
using Struck = std::vector<Line>;

/// True if the rule is in force.
inline bool stands(const Struck& struck, Line line) {
  return struck.empty() || std::find(struck.begin(), struck.end(), line) == struck.end();
}

}  // namespace muster::postgres
