#pragma once

#include <muster/values/describe.hpp>

#include <vector>

/// Lines of the sessions that the lab removes, one at a time, to show the purpose of each.

namespace MUSTER_EXPORT muster {
namespace host {

/// One line of the sessions. Each comment is true while the line is there.
enum class SessionLine {
  outlived_test,          ///< the Hello of a life is refused if a later life was seen
  clone_test,             ///< a second process that claims to be a known life is refused
  stale_test,             ///< a Hello is ignored if it was sent before one that was accepted
  crossing_test,          ///< of two crossing connections, the one that the higher id dialled stays
  crossing_refused_once,  ///< a Hello that comes again after being refused as crossing is accepted
  new_life_ends_old,      ///< the Hello of a new life ends the session with the old one
  new_life_heard_at_home,  ///< a new life is believed only if the node's address was dialled
  read_before_new_life,    ///< letters of the old life are read before its end is reported
  read_before_silence,     ///< everything readable is read before a bound counts as passed
  hellos_before_refusal,   ///< Hellos are read before a refused dial proves that a life is over
  call_before_dial,        ///< a refused dial does not answer calls that were made after it began
  reset_proves_nothing,  ///< a dial that is accepted and reset at once does not count as a refused
                         ///< dial
  silence_proves_nothing,  ///< a dial without an answer does not count as a refused dial
  session_keeps_dialling,  ///< a node with a session is dialled until that session ends
  letters_again,           ///< letters that were not received are sent again on the next connection
  letters_once,            ///< a letter that arrives a second time is dropped
  calls_to_their_life,     ///< a call to a life goes to no other life
  answers_to_their_life,   ///< an answer goes to the life that called, or to none
  answers_awaited,         ///< an answer is dropped if no call awaits it
  one_end_of_a_life,       ///< the end of a life is reported once
};
MUSTER_DESCRIBE_ENUM(SessionLine, outlived_test, clone_test, stale_test, crossing_test,
                     crossing_refused_once, new_life_ends_old, new_life_heard_at_home,
                     read_before_new_life, read_before_silence, hellos_before_refusal,
                     call_before_dial, reset_proves_nothing, silence_proves_nothing,
                     session_keeps_dialling, letters_again, letters_once, calls_to_their_life,
                     answers_to_their_life, answers_awaited, one_end_of_a_life)

/// The lines that are removed. Empty except in the lab.
using StruckSessionLines = std::vector<SessionLine>;

}  // namespace host
}  // namespace muster
