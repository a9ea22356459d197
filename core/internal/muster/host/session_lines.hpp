#pragma once

#include <muster/values/describe.hpp>

#include <vector>

/// Lines of the sessions that the lab takes out, one at a time, to see what each is for.

namespace MUSTER_EXPORT muster {
namespace host {

enum class SessionLine {
  outlived_test,           ///< the Hello of a life before one that was seen is refused
  clone_test,              ///< a second process that says that it is a life that is known, too
  stale_test,              ///< a Hello that was said before one that was taken is not taken
  crossing_test,           ///< of two connections that cross, the higher id refuses the other's
  crossing_refused_once,   ///< who dials again after that is taken
  new_life_ends_old,       ///< the Hello of a new life ends the session with the one before
  new_life_heard_at_home,  ///< that is believed of who is dialled
  read_before_new_life,    ///< what the life before has said is read before its end is told
  read_before_silence,     ///< what can be read is read before a bound has passed
  hellos_before_refusal,   ///< Hellos are read before a refused dial proves that nobody is there
  call_before_dial,        ///< a refused dial leaves no call unanswered that was made after it
  reset_proves_nothing,    ///< a dial that is accepted and reset at once is no refusal
  silence_proves_nothing,  ///< a dial without an answer is no refusal
  session_keeps_dialling,  ///< a node that a session stands with is dialled until it ends
  letters_again,           ///< what was not received goes again over the next connection
  letters_once,            ///< what comes again is dropped
  calls_to_their_life,     ///< a call to a life goes to no other
  answers_to_their_life,   ///< an answer goes to the life that called, or nowhere
  answers_awaited,         ///< an answer to what is awaited no more is dropped
  one_end_of_a_life,       ///< a life is told to be over once
};
MUSTER_DESCRIBE_ENUM(SessionLine, outlived_test, clone_test, stale_test, crossing_test,
                     crossing_refused_once, new_life_ends_old, new_life_heard_at_home,
                     read_before_new_life, read_before_silence, hellos_before_refusal,
                     call_before_dial, reset_proves_nothing, silence_proves_nothing,
                     session_keeps_dialling, letters_again, letters_once, calls_to_their_life,
                     answers_to_their_life, answers_awaited, one_end_of_a_life)

/// The lines that are taken out; empty everywhere but in the lab.
using StruckSessionLines = std::vector<SessionLine>;

}  // namespace host
}  // namespace muster
