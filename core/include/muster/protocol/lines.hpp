#pragma once

#include <muster/values/describe.hpp>

#include <algorithm>
#include <vector>

/// Lines of a protocol that the lab takes out, one at a time, to see what each is for.

namespace MUSTER_EXPORT muster {

enum class Line {
  stop_ends_election,              ///< STOP ends an Election(i) that asks or halts
  h_test,                          ///< NewCoordinator(i, j) is accepted only if S.h = j
  c_test,                          ///< Ready(i, j, x) is accepted only if S.c = j
  status_test_of_new_coordinator,  ///< NewCoordinator is accepted only in Election
  status_test_of_ready,            ///< Ready is accepted only in Reorganization
  h_undefined_at_recovery,         ///< Recovery(i) leaves S.h undefined
  down_at_recovery,                ///< a life begins Down, and is so until an election touches it
  halts_descending,                ///< Halts go to the highest first; without it, to the lowest
  halts_one_by_one,                ///< a Halt is sent when the one before has returned
  halts_once,              ///< of Halts at once; without it, rounds until one is like the last
  rounds_by_node,          ///< of rounds: the same nodes answered; without it, the same lives
  rounds_until_alike,      ///< of rounds: without it, two
  unconditional_halt,      ///< Halt(i, j) is obeyed, though a higher node than j halted i last
  halts_to_all,            ///< every lower node is halted; without it, none that was called in vain
  halt_outlives_life,      ///< the end of a life does not make a Halt unanswered
  question_outlives_life,  ///< the end of a life does not make a question unanswered
  failed_spares_no_question,   ///< the proof of a failure does not answer AreYouThere
  leaving_answers,             ///< a node that leaves answers until it has stopped
  stop_refuses_waiting_calls,  ///< STOP answers a NewCoordinator that waits here with "refused"
  safe_counter,                ///< a new life counts groups from safe storage
  counter_test,                ///< NewCoordinator is refused with a number that is not a new one
  life_test,                   ///< NewCoordinator and Ready are for one life of their receiver
  newer_halts_only,            ///< a Halt of an election that halted here before is ignored
  same_election,               ///< of tags: S.h and S.c are compared with j's election, not with j
  reorganize_after_stops,      ///< reorganize waits for every answer to NewCoordinator
  refusal_starts_over,         ///< who refuses NewCoordinator is not dropped from S.Up instead
  timeout_unless_normal,       ///< Timeout(i) runs in Down and Election as well
  self_timeout,                ///< Timeout(i) of an idle coordinator in Reorganization starts over
  question_names_group,        ///< a member asks its coordinator about their group
  elsewhere_recovers,          ///< a member that is told No recovers instead of calling Election(i)
  second_election_recovers,    ///< a second election in a row, left to a higher node, recovers
};
MUSTER_DESCRIBE_ENUM(Line, stop_ends_election, h_test, c_test, status_test_of_new_coordinator,
                     status_test_of_ready, h_undefined_at_recovery, down_at_recovery,
                     halts_descending, halts_one_by_one, halts_once, rounds_by_node,
                     rounds_until_alike, unconditional_halt, halts_to_all, halt_outlives_life,
                     question_outlives_life, failed_spares_no_question, leaving_answers,
                     stop_refuses_waiting_calls, safe_counter, counter_test, life_test,
                     newer_halts_only, same_election, reorganize_after_stops, refusal_starts_over,
                     timeout_unless_normal, self_timeout, question_names_group, elsewhere_recovers,
                     second_election_recovers)

/// The lines that are taken out; empty everywhere but in the lab.
using Struck = std::vector<Line>;

/// True when the line stands.
inline bool stands(const Struck& struck, Line line) {
  return struck.empty() || std::find(struck.begin(), struck.end(), line) == struck.end();
}

}  // namespace muster
