#pragma once

#include <muster/claims/assertions.hpp>
#include <muster/lab/bounds.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Exhaustive search: every interleaving of what may happen, breadth first, on the `step` that
/// ships.

namespace MUSTER_EXPORT muster {
namespace lab {

/// A shortest way to a world of interest, told from the beginning.
struct Trace {
  std::vector<std::string> lines;  ///< one a step
  /// So many of the first lines lead to the world in which the search begins.
  std::size_t opening{};
  std::string journal;  ///< the same as a journal (docs/journal.md)
  /// Steps in which a letter or call comes to its end, a timer expires, a node fails or recovers.
  unsigned counted{};
};

/// The shortest way to a world in which an assertion does not hold.
struct Counterexample {
  std::string assertion;
  Disagreement disagreement;
  Trace story;
};

/// Worlds from which, without another failure or recovery, no world of Assertion 2 can be reached.
struct Wedged {
  std::uint64_t worlds{};
  std::optional<Trace> story;  ///< of the nearest
};

/// Worlds on one way round that never comes to a world of Assertion 2, though nothing is left out
/// on it that could happen all the time (weak fairness), and nobody fails.
struct Avoids {
  std::uint64_t worlds{};
  std::optional<Trace> story;  ///< to the nearest of them, and once round
  std::size_t round{};         ///< so many of its last lines are the way round
};

/// How far the search came.
struct Progress {
  std::uint64_t states{};
  std::uint64_t transitions{};
  unsigned depth{};
  double seconds{};
  std::uint64_t memory{};  ///< bytes of fingerprints, values and worlds, at most so far
  /// Something does not hold, and the way to it is looked for: the same search once more, by one
  /// thread, without the limits.
  bool tracing = false;
};

struct CheckReport {
  Progress progress;
  bool ended = false;        ///< no limit ended the search: all was seen that was not cut
  bool interrupted = false;  ///< the caller ended it
  /// A world violates an assertion. The way to it is in `counterexample`, unless the caller ended
  /// the search for it.
  bool violated = false;
  std::uint64_t cut{};  ///< successors that were not looked at: a queue would have been too long
  /// Fields of Bounds that allow some of a trouble, none of which came about anywhere: of that
  /// trouble the search has seen nothing.
  std::vector<std::string> never;
  std::optional<Counterexample> counterexample;
  /// Where liveness was asked for: when the search ended, or a limit ended it and some were found.
  std::optional<Wedged> wedged;
  std::optional<Avoids> avoids;  ///< likewise, where no world is wedged

  /// True when every world that can be reached was seen.
  [[nodiscard]] bool exhausted() const { return ended && cut == 0; }
};

/// The assertions about single worlds, whichever protocol claims them.
const std::vector<std::string>& assertions_about_worlds();

/// The same, and those that are about times too: the checker has none, journals have.
const std::vector<std::string>& assertions_about_runs();

/// Which assertions about single worlds are looked at: those of `bounds`, or all that its protocol
/// claims. While links are cut it claims no 1a, no 1b, and works-apart only with a quorum.
std::vector<std::string> looked_at(const Bounds& bounds);

/// True when the protocol is the Invitation, and some nodes hear each other only through others:
/// Assertion 4 says nothing of them.
bool leaves_no_parts(const Bounds& bounds);

/// True where a new life counts groups on from safe storage, and not from 0.
bool counters_are_safe(const Bounds& bounds);

/// True where the checker keeps the order of group counters: only there is group-grows looked at.
/// They are dropped where they decide nothing: where elections are matched exactly, or the test of
/// them is struck out, and calm is off.
bool keeps_counters(const Bounds& bounds);

/// True where the Bully is searched without its counter test: where the order of group numbers is
/// not kept there is nothing to compare, and NewCoordinator is not refused for an old one.
bool leaves_out_counter_test(const Bounds& bounds);

/// Searches the world of `bounds`, and tells `progress` at each new depth. Ends early when
/// `interrupted`, which several threads call, says so. Throws std::invalid_argument, before it
/// begins, where `bounds` has too many nodes or none, lets nodes begin Normal or cuts links that
/// there are not, or asks for an assertion that the checker does not know.
CheckReport check(const Bounds& bounds, const std::function<void(const Progress&)>& progress,
                  const std::function<bool()>& interrupted = {});

}  // namespace lab
}  // namespace muster
