#pragma once

#include <muster/host/session_lines.hpp>
#include <muster/values/describe.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

/// Exhaustive search of the shipped sessions. Two nodes live life after life, and the search tries
/// every order in which dials, Hellos, letters, ends and bounds can reach them.

namespace MUSTER_EXPORT muster {
namespace lab {

inline constexpr unsigned any_number = std::numeric_limits<unsigned>::max();

/// The troubles, and how often each may occur. any_number: no limit.
struct SessionTroubles {
  unsigned lives = any_number;   ///< lives that begin, of both nodes
  unsigned resets = any_number;  ///< connections that the network breaks
  unsigned silences = 0;         ///< machines that stop, so that nothing announces their end
  unsigned restores = 0;  ///< lives that begin from an old copy of the store, or from an empty one
  unsigned replays = 0;   ///< Hellos on their way that arrive a second time
};
MUSTER_DESCRIBE(SessionTroubles, lives, resets, silences, restores, replays);

/// The bounds of the search.
struct SessionBounds {
  /// The largest number of calls of each life that a node still knows. A call is to a node or to
  /// one of its lives. If the number of lives is not limited, only a search without calls has an
  /// end.
  unsigned calls = 0;
  unsigned links = 2;  ///< the largest number of connections that are not closed on both sides; a
                       ///< dial waits for room
  SessionTroubles troubles;
  host::StruckSessionLines struck;
  std::uint64_t states = 0;  ///< the largest number of states; 0: no limit
  unsigned threads = 1;
};

/// The result of check_sessions().
struct SessionReport {
  std::uint64_t states{};
  std::uint64_t transitions{};
  unsigned depth{};
  std::uint64_t drained{};   ///< moves in which a Drain has found something
  bool ended = false;        ///< every state was seen
  bool interrupted = false;  ///< the caller ended the search
  /// The fields of SessionTroubles for the kinds of trouble that were allowed but occurred in no
  /// state. The search says nothing about those kinds.
  std::vector<std::string> never;
  std::string violated;  ///< the claim that is violated, and how; empty if all claims hold
  std::vector<std::string> story;
};

/// Searches breadth first, and calls `progress` at each new depth. Numbers are replaced by ranks,
/// so that any number of lives and letters makes finitely many states. The claims:
///
/// - Letters of one life to another arrive in the order in which they were sent, each once, and no
/// letter before one that arrives is left out.
/// - Each call ends once, with an answer or CallUnanswered, unless the caller's life ends before.
/// A call is unanswered before its bound only if no node was there, or the life that the call names
/// is over.
/// - Everything that has arrived is read before a verdict. No call is unanswered at its bound while
/// its answer can be read. No call is unanswered because no process listens while a Hello of the
/// called node can be read. LifeOver is not reported while a letter of that life can be read.
/// - A call to a life reaches that life. An answer reaches the life that called, and comes from the
/// life that the call named, if it named one.
/// - LifeOver is never reported of a life that works. LifeOver comes after the last letter of that
/// life and before the first letter of the next.
/// - No letter is accepted from an outlived life, or from a second process that claims to be the
/// same life.
/// - Neither side closes a connection that carries the session at both ends.
/// - When nothing fails any more, calls are answered, two nodes that are up are connected, and the
/// end of a node that is down is reported.
/// - If both nodes then do everything at the same moment, a few redials connect them. No bound of T
/// has to pass, and no lost connection has to be noticed.
///
/// @par Thread safety
/// `interrupted` is called by several threads at the same time. The search ends early if it returns
/// true.
SessionReport check_sessions(const SessionBounds& bounds,
                             const std::function<void(const SessionReport&)>& progress,
                             const std::function<bool()>& interrupted = {});

}  // namespace lab
}  // namespace muster
