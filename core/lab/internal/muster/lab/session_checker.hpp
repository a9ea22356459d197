#pragma once

#include <muster/host/session_lines.hpp>
#include <muster/values/describe.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

/// Exhaustive search of the sessions that ship: two nodes, life after life, and every order in
/// which dials, Hellos, letters, ends and bounds can come to them.

namespace MUSTER_EXPORT muster {
namespace lab {

inline constexpr unsigned any_number = std::numeric_limits<unsigned>::max();

/// What goes wrong, and how often in all; any_number: whenever it can.
struct SessionTroubles {
  unsigned lives = any_number;   ///< begin, of both nodes
  unsigned resets = any_number;  ///< of connections, by the network
  unsigned silences = 0;         ///< machines that stop without a word
  unsigned restores = 0;         ///< lives that begin from an old copy of the store, or a wiped one
  unsigned replays = 0;          ///< a Hello that is on its way comes a second time
};
MUSTER_DESCRIBE(SessionTroubles, lives, resets, silences, restores, replays);

struct SessionBounds {
  /// Of each life that anybody still knows of; to a node or to its life. With any number of lives
  /// the search has an end without calls alone.
  unsigned calls = 0;
  unsigned links = 2;  ///< connections that are not closed on both sides: a dial waits for room
  SessionTroubles troubles;
  host::StruckSessionLines struck;
  std::uint64_t states = 0;  ///< the search ends there; 0: no limit
  unsigned threads = 1;
};

struct SessionReport {
  std::uint64_t states{};
  std::uint64_t transitions{};
  unsigned depth{};
  std::uint64_t drained{};   ///< moves in which a Drain has found something
  bool ended = false;        ///< all was seen
  bool interrupted = false;  ///< the caller ended it
  /// Fields of SessionTroubles that allow some of a trouble that came about nowhere: of it the
  /// search has seen nothing.
  std::vector<std::string> never;
  std::string violated;  ///< which claim, and how; empty: all hold
  std::vector<std::string> story;
};

/// Searches breadth first, and tells `progress` at each new depth. Numbers are ranks, so that lives
/// and letters without end make finitely many states. The claims:
///
/// - letters of one life to another come in the order in which they were sent, each once, and none
///   is left out before one that comes;
/// - each call has one end, an answer or CallUnanswered, unless its life ends before; before its
///   bound it stays unanswered only where nobody was there, or the life is over that it names;
/// - what has come is read before a verdict: an answer before its call is unanswered at its bound,
///   the Hello of who was called before a call is unanswered because nobody listened, and the
///   letters of a life before LifeOver;
/// - a call to a life comes to that life; an answer to the life that called, and of the life that
///   was called where it named one;
/// - LifeOver is never of a life that works, and comes after the last letter of that life and
///   before the first of the next;
/// - no letter comes of an outlived life, or of a second process that says that it is one life;
/// - a connection that carries the session at both ends is closed by neither;
/// - when nothing fails any more, calls are answered, two nodes that are up are connected, and the
///   end of one that is down is told;
/// - and where both then do everything at the same moment, a few redials connect two nodes that are
///   up: no bound of T has to pass, and no lost connection to be noticed.
///
/// Ends early when `interrupted`, which several threads call, says so.
SessionReport check_sessions(const SessionBounds& bounds,
                             const std::function<void(const SessionReport&)>& progress,
                             const std::function<bool()>& interrupted = {});

}  // namespace lab
}  // namespace muster
