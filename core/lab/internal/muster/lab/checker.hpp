#pragma once

#include <muster/claims/assertions.hpp>
#include <muster/lab/bounds.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Exhaustive search: every interleaving of the events that may happen, breadth first, on the
/// `step` that ships.

namespace MUSTER_EXPORT muster {
namespace lab {

/// A shortest way from the beginning to a world of interest.
struct Trace {
  std::vector<std::string> lines;  ///< one for each step
  /// The number of first lines that lead to the world in which the search begins.
  std::size_t opening{};
  std::string journal;  ///< the same way as a journal (docs/reference/journal.md)
  /// The number of steps in which a letter or call ends, a timer expires, or a node fails or
  /// recovers.
  unsigned counted{};
};

/// The shortest way to a world in which an assertion does not hold.
struct Counterexample {
  std::string assertion;
  Disagreement disagreement;
  Trace story;
};

/// Worlds from which no world of Assertion 2 can be reached without another failure or recovery.
struct Wedged {
  std::uint64_t worlds{};
  std::optional<Trace> story;  ///< the way to the nearest of these worlds
};

/// Worlds on a cycle that never comes to a world of Assertion 2. No node fails on the cycle, and
/// the cycle is fair: no move that is possible all the time is left out (weak fairness).
struct Avoids {
  std::uint64_t worlds{};
  std::optional<Trace> story;  ///< the way to the nearest world, and once around the cycle
  std::size_t round{};         ///< the number of lines at the end that make the cycle
};

/// How far the search has come.
struct Progress {
  std::uint64_t states{};
  std::uint64_t transitions{};
  unsigned depth{};
  double seconds{};
  std::uint64_t memory{};  ///< bytes of fingerprints, values and worlds: the most so far
  /// An assertion is violated, and a second search for the way to the violation runs, by one thread
  /// and without limits.
  bool tracing = false;
};

/// The result of check().
struct CheckReport {
  Progress progress;
  bool ended = false;  ///< no limit ended the search: every world was seen, except those that `cut`
                       ///< counts
  bool interrupted = false;  ///< the caller ended the search
  /// A world violates an assertion. The way to that world is in `counterexample`, unless the caller
  /// ended the search for the way.
  bool violated = false;
  /// Successors that were not searched, because a queue would have been too long.
  std::uint64_t cut{};
  /// The fields of Bounds for the kinds of trouble that were allowed but occurred in no world. The
  /// search says nothing about those kinds.
  std::vector<std::string> never;
  std::optional<Counterexample> counterexample;
  /// Set if liveness was asked for and every world was seen, or if some wedged worlds were found
  /// before a limit ended the search.
  std::optional<Wedged> wedged;
  std::optional<Avoids> avoids;  ///< set in the same cases as `wedged`, if no world is wedged

  /// True if every reachable world was seen.
  [[nodiscard]] bool exhausted() const { return ended && cut == 0; }
};

/// The assertions about single worlds, of all protocols.
const std::vector<std::string>& assertions_about_worlds();

/// The assertions about single worlds, and those about times, which only journals can show.
const std::vector<std::string>& assertions_about_runs();

/// The assertions that are checked: those of `bounds`, or all about single worlds that the protocol
/// claims. If links are cut, 1a and 1b are not claimed, and works-apart only with a quorum.
std::vector<std::string> looked_at(const Bounds& bounds);

/// True if the protocol is the Invitation and some nodes hear each other only through others.
/// Assertion 4 says nothing about such nodes.
bool leaves_no_parts(const Bounds& bounds);

/// True if a new life continues to count groups from safe storage, and not from 0.
bool counters_are_safe(const Bounds& bounds);

/// True if the checker keeps the order of group counters. Only then is group-grows checked. The
/// checker drops the order if no decision depends on it: calm is off, and either elections are
/// matched exactly or the counter test is struck.
bool keeps_counters(const Bounds& bounds);

/// True if the Bully is searched without its counter test. If the checker drops the order of group
/// numbers, a node cannot compare them, and NewCoordinator is not refused for an old number.
bool leaves_out_counter_test(const Bounds& bounds);

/// Searches the world of `bounds`. Calls `progress` at each new depth, and returns early if
/// `interrupted` returns true.
///
/// @par Thread safety
/// `interrupted` is called by several threads at the same time, `progress` by one.
/// @par Errors
/// Throws std::invalid_argument, before the search begins, if `bounds` has no nodes or too many,
/// names nodes that do not exist, or asks for an assertion that the checker does not know.
CheckReport check(const Bounds& bounds, const std::function<void(const Progress&)>& progress,
                  const std::function<bool()>& interrupted = {});

}  // namespace lab
}  // namespace muster
