#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Exhaustive search of the sessions that ship: two nodes, several lives each, and every order in
/// which dials, Hellos, letters, ends and bounds can come to them.

namespace muster::lab {

/// What may happen, and how often, in all.
struct SessionBounds {
  unsigned lives = 1;     ///< of each node
  unsigned calls = 1;     ///< that each life makes; to the node or to its life
  unsigned resets = 0;    ///< connections that the network breaks
  unsigned silences = 0;  ///< machines that stop without a word
  unsigned links = 2;     ///< connections that are not closed on both sides: a dial waits for room
  bool connected = false;    ///< both are up when it begins, and have a session
  std::uint64_t states = 0;  ///< the search ends there; 0: no limit
};

struct SessionReport {
  std::uint64_t states{};
  std::uint64_t transitions{};
  unsigned depth{};
  std::uint64_t drained{};  ///< moves in which a Drain has found something
  bool ended = false;       ///< all was seen
  std::string violated;     ///< which claim, and how; empty: all hold
  std::vector<std::string> story;
};

/// Searches breadth first, and tells `progress` at each new depth. The claims:
///
/// - letters of one life to another come in the order in which they were sent, each once;
/// - each call has one end, an answer or CallUnanswered, unless its life ends before;
/// - an answer comes to the life that called, and of the life that was called where it named one;
/// - LifeOver is never of a life that works, and comes after the last letter of that life;
/// - when nothing fails any more, all calls end, and two nodes that are up are connected.
SessionReport check_sessions(const SessionBounds& bounds,
                             const std::function<void(const SessionReport&)>& progress);

}  // namespace muster::lab
