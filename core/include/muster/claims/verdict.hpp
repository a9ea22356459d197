#pragma once

#include <muster/values/text.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The verdicts on journals that were checked against the assertions (docs/reference/journal.md).

namespace MUSTER_EXPORT muster {

/// An assertion that does not hold: the nodes that violate it, and a sentence about their states.
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

/// A journal and a line in it.
struct Place {
  std::string journal;
  std::uint64_t line{};
};
MUSTER_DESCRIBE(Place, journal, line);

// --- Verdicts

/// An assertion held each time it was checked.
struct Holds {
  std::string assertion;
  std::uint64_t checked{};
  std::optional<Duration> bound;  ///< Assertion 2 only: how long no disturbance may occur before
                                  ///< the assertion is checked
};
MUSTER_DESCRIBE(Holds, assertion, checked, bound);

/// An assertion was violated. The fields describe the first violation.
struct Violated {
  std::string assertion;
  std::uint64_t checked{};
  std::uint64_t violations{};  ///< how often the assertion changed from holding to not holding
  Duration t{};
  Disagreement disagreement;
  Place place;
  std::optional<Duration> bound;
};
MUSTER_DESCRIBE(Violated, assertion, checked, violations, t, disagreement, place, bound);

/// During this time an assertion is not claimed, or could not be checked.
struct NotClaimed {
  std::string assertion;
  Duration from{};
  Duration to{};
  std::string why;
  std::optional<Duration> bound;
  std::string cause{};   ///< the kind of reason, such as "assumption 8: cut"
  bool of_some = false;  ///< for other nodes the assertion was still checked
};
MUSTER_DESCRIBE(NotClaimed, assertion, from, to, why, bound, cause, of_some);

using Verdict = std::variant<Holds, Violated, NotClaimed>;

/// Appends the verdict as one line of JSON, with its '\n'.
void verdict_line(std::string& out, const Verdict& verdict);

/// The result of checking journals (`muster verify`).
///
/// @par Example
/// @code
///     if (!outcome.holds())
///       for (const auto& verdict : outcome.verdicts) muster::verify::verdict_line(text, verdict);
/// @endcode
struct Outcome {
  std::vector<Verdict> verdicts;  ///< one for each assertion
  std::uint64_t lines{};
  std::uint64_t lives{};
  std::uint64_t missing_lines{};  ///< lines that the journals lack, found by gaps in `seq`
  /// The required checks that were not made, in words; empty if all were made. At least one
  /// assertion must be checked, and also each one that was asked for by name. If there are several
  /// nodes, the journals must be of more than one.
  std::string undecided{};

  /// True when no assertion was ever checked.
  [[nodiscard]] bool is_empty() const;
  /// True when no assertion was violated and every required check was made.
  [[nodiscard]] bool holds() const;
};

}  // namespace verify
}  // namespace muster
