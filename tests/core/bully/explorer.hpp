#pragma once

#include "script.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Seeded random runs of the test world, every step checked, that must come to Assertion 2 at the
/// end.

namespace muster::test {

/// How wild a run is.
struct Wildness {
  std::uint32_t nodes = 3;
  Repairs repairs = {};
  unsigned steps = 150;
  unsigned failures = 4;
  unsigned pauses = 0;
  unsigned leaves = 0;
  unsigned failed_hooks = 0;
  unsigned expiries = 20;
  /// A literal node may be stuck for ever (6.7); then only safety is asked.
  bool must_settle = true;
};

struct Finding {
  std::string what;
  std::vector<Command> script;  ///< what leads to it, from nodes that are all down
};

/// Failures cease: who is paused goes on, and who is down begins a new life; all at once, or one
/// after the other, each when the others have come to rest. What is wrong, when Assertion 2 is not
/// reached within the settling bound each time; with `must_settle` off, nothing is.
enum class Return { at_once, one_by_one };
std::optional<std::string> come_to_rest(World& world, bool must_settle,
                                        Return back = Return::one_by_one);

/// One run. None where everything held.
std::optional<Finding> explore(std::uint64_t seed, const Wildness& wildness);

/// What is found when that script is run once more, leaving out what is not possible; none if
/// nothing.
std::optional<std::string> replay(const std::vector<Command>& script, const Wildness& wildness);

/// The shortest script that simple omission comes to and that still finds something of the same
/// kind.
Finding reduce(Finding finding, const Wildness& wildness);

/// The script, and the journal that it makes.
std::string to_text(const Finding& finding, const Wildness& wildness);

}  // namespace muster::test
