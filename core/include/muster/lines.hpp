#pragma once

#include <muster/describe.hpp>

#include <algorithm>
#include <vector>

/// Lines of a protocol that the lab takes out, one at a time, to see what each is for.

namespace muster {

enum class Line {
  stop_ends_election,             ///< STOP ends the procedure that runs
  h_test,                         ///< NewCoordinator is accepted only from the one who halted i
  c_test,                         ///< Ready is accepted only from i's coordinator
  status_test_of_NewCoordinator,  ///< NewCoordinator is accepted only in Election
  status_test_of_Ready,           ///< Ready is accepted only in Reorganization
  h_undefined_at_recovery,        ///< Recovery sets h undefined and leaves s Down
  down_at_recovery,               ///< Recovery leaves s Down until phase A is over
  halts_descending,               ///< Halt to the next lower node, and only then to the one below
  halts_one_by_one,               ///< one Halt at a time
  stop_refuses_waiting_calls,     ///< STOP refuses the NewCoordinator and Ready that wait at i
  reorganize_waits_for_members,   ///< Reorganize only when every member has said that it is stopped
  halt_asked_in_vain,             ///< a node that was just asked in vain is halted all the same
  refusal_starts_over,            ///< a member that refuses is not dropped: i starts over
  halt_outlives_life,             ///< the end of a life does not make a Halt unanswered
  question_outlives_life,         ///< the end of a life does not make a question unanswered
  failed_spares_no_question,      ///< the proof of a life's end spares no question to the node
  leaving_answers,                ///< a node that is leaving still answers
  safe_counter,                   ///< the group counter is in safe storage
};
MUSTER_DESCRIBE_ENUM(Line, stop_ends_election, h_test, c_test, status_test_of_NewCoordinator,
                     status_test_of_Ready, h_undefined_at_recovery, down_at_recovery,
                     halts_descending, halts_one_by_one, stop_refuses_waiting_calls,
                     reorganize_waits_for_members, halt_asked_in_vain, refusal_starts_over,
                     halt_outlives_life, question_outlives_life, failed_spares_no_question,
                     leaving_answers, safe_counter)

/// The lines that are taken out; empty everywhere but in the lab.
using Struck = std::vector<Line>;

/// True when the line stands.
inline bool stands(const Struck& struck, Line line) {
  return struck.empty() || std::find(struck.begin(), struck.end(), line) == struck.end();
}

}  // namespace muster
