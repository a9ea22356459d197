#pragma once

#include <muster/values/describe.hpp>

#include <algorithm>
#include <vector>

/// Lines of a protocol that the lab removes, one at a time, to show the purpose of each.

namespace MUSTER_EXPORT muster {

/// One line of a protocol. Each comment is true while the line is there.
enum class Line {
  stop_ends_election,  ///< STOP ends an Election(i) that is asking higher nodes or halting lower
                       ///< ones
  h_test,              ///< NewCoordinator(i, j) is accepted only if S(i).h = j
  c_test,              ///< Ready(i, j, x) is accepted only if S(i).c = j
  status_test_of_new_coordinator,  ///< NewCoordinator is accepted only in Election
  status_test_of_ready,            ///< Ready is accepted only in Reorganization
  h_undefined_at_recovery,         ///< Recovery(i) leaves S(i).h undefined
  down_at_recovery,                ///< a life begins Down and stays so until an election reaches it
  halts_descending,  ///< the highest lower node is halted first; without the line, the lowest
  halts_one_by_one,  ///< a Halt is sent only after the one before has returned
  halts_once,      ///< parallel Halts go out once; without the line, in rounds until two are alike
  rounds_by_node,  ///< rounds compare nodes; without the line, they compare lives
  rounds_until_alike,  ///< rounds go on until two are alike; without the line, there are only two
  unconditional_halt,  ///< Halt(i, j) is obeyed although a node above j halted i last
  halts_to_all,  ///< every lower node is halted; without the line, a node that left a question
                 ///< unanswered is not
  halt_outlives_life,          ///< a Halt does not count as unanswered because its receiver's life
                               ///< has ended
  question_outlives_life,      ///< a question does not count as unanswered because its receiver's
                               ///< life has ended
  failed_spares_no_question,   ///< the proof of a failure does not replace the question AreYouThere
  leaving_answers,             ///< a leaving node answers until it has stopped
  stop_refuses_waiting_calls,  ///< STOP answers a waiting NewCoordinator with "refused"
  safe_counter,                ///< a new life counts groups from safe storage
  counter_test,                ///< NewCoordinator is refused if its group number is not new
  life_test,                   ///< NewCoordinator and Ready are for one life of their receiver
  newer_halts_only,            ///< a Halt is ignored if its election has already halted this node
  same_election,             ///< S(i).h and S(i).c are compared with j's election, not only with j
  reorganize_after_stops,    ///< reorganize waits for every answer to NewCoordinator
  refusal_starts_over,       ///< a refused NewCoordinator starts over; without the line, Up loses
                             ///< that node
  timeout_unless_normal,     ///< Timeout(i) also runs in Down and Election
  self_timeout,              ///< Timeout(i) makes an idle coordinator in Reorganization start over
  question_names_group,      ///< a member's question to its coordinator names their group
  elsewhere_recovers,        ///< a member that is told No recovers instead of calling Election(i)
  second_election_recovers,  ///< a node recovers if higher nodes end two of its elections in a row
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

/// The lines that are removed. Empty except in the lab.
using Struck = std::vector<Line>;

/// True when the line was not removed.
inline bool stands(const Struck& struck, Line line) {
  return struck.empty() || std::find(struck.begin(), struck.end(), line) == struck.end();
}

}  // namespace muster
