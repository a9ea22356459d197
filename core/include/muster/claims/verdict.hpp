#pragma once

#include <muster/values/text.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The verdicts on journals that were checked against the assertions (docs/journal.md).

namespace MUSTER_EXPORT muster {

/// An assertion that does not hold: for which nodes, and what they say.
struct Disagreement {
  NodeSet nodes;
  std::string why;
};
MUSTER_DESCRIBE(Disagreement, nodes, why);

}  // namespace muster

namespace MUSTER_EXPORT muster {
namespace verify {

using muster::operator==;
using muster::operator<<;

/// The journal and the line.
struct Place {
  std::string journal;
  std::uint64_t line{};
};
MUSTER_DESCRIBE(Place, journal, line);

// --- Verdicts

/// An assertion held wherever it was checked.
struct Holds {
  std::string assertion;
  std::uint64_t checked{};
  std::optional<Duration> bound;  ///< of Assertion 2: the calm after which it is checked
};
MUSTER_DESCRIBE(Holds, assertion, checked, bound);

/// An assertion was violated; this is where for the first time.
struct Violated {
  std::string assertion;
  std::uint64_t checked{};
  std::uint64_t violations{};  ///< how many times it began not to hold
  Duration t{};
  Disagreement disagreement;
  Place place;
  std::optional<Duration> bound;
};
MUSTER_DESCRIBE(Violated, assertion, checked, violations, t, disagreement, place, bound);

/// For this time an assertion is not claimed, or could not be checked.
struct NotClaimed {
  std::string assertion;
  Duration from{};
  Duration to{};
  std::string why;
  std::optional<Duration> bound;
  std::string cause{};   ///< the kind of `why`, such as "assumption 8: cut"
  bool of_some = false;  ///< not claimed of some nodes; of the others it is checked
};
MUSTER_DESCRIBE(NotClaimed, assertion, from, to, why, bound, cause, of_some);

using Verdict = std::variant<Holds, Violated, NotClaimed>;

/// Appends the verdict as one line of JSON, with its '\n'.
void verdict_line(std::string& out, const Verdict& verdict);

/// All that came of it.
struct Outcome {
  std::vector<Verdict> verdicts;  ///< one for each assertion
  std::uint64_t lines{};
  std::uint64_t lives{};
  std::uint64_t missing_lines{};  ///< that journals dropped, by their `seq`
  /// The checks that had to be made and were not, in words; empty if none is missing. Some
  /// assertion has to be checked, and each one that was asked for by name. Of several nodes it has
  /// to be more than one.
  std::string undecided{};

  /// True when no assertion was ever checked.
  [[nodiscard]] bool is_empty() const;
  /// True when none was violated, and enough was checked.
  [[nodiscard]] bool holds() const;
};

}  // namespace verify
}  // namespace muster
