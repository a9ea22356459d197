#pragma once

#include "script.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Seeded random runs of the test world, every step checked, that must come together at the end.

namespace muster::test {

/// How wild a run is; each figure bounds how often that may happen.
struct Wildness {
  std::uint32_t nodes = 3;
  Config config = {};
  unsigned steps = 150;
  unsigned failures = 4;
  unsigned resets = 2;
  unsigned silences = 0;  ///< calls that go unanswered though assumption 8 forbids it
  unsigned cuts = 0;
  unsigned pauses = 0;
  unsigned differences = 0;  ///< new lives with another configuration, or with the same again
  unsigned leaves = 0;
  unsigned failed_hooks = 0;
  unsigned expiries = 20;
  /// The paper's text may be stuck for ever (6.7); then only safety is asked.
  bool must_settle = true;
};

struct Finding {
  std::string what;
  std::vector<Command> script;  ///< what leads to it, from nodes that are all down
};

/// Failures cease: links heal, who is paused goes on, and who is down begins a new life; all at
/// once, or one after the other, each when the others have come to rest. What is wrong, when they
/// do not come together within the settling bound each time; with `must_settle` off, nothing is.
enum class Return { at_once, one_by_one };
std::optional<std::string> come_to_rest(World& world, bool must_settle,
                                        Return back = Return::one_by_one);

/// One run. None where everything held. Counts by their verbs what happened.
std::optional<Finding> explore(std::uint64_t seed, const Wildness& wildness,
                               std::map<std::string, std::uint64_t>* happened = nullptr);

/// The shortest script that simple omission comes to and that still finds something of the same
/// kind.
Finding reduce(Finding finding, const Wildness& wildness);

/// The script, and the journal that it makes.
std::string to_text(const Finding& finding, const Wildness& wildness);

/// Throws the first finding of seeds 1 to `seeds` as a Violation, and likewise a kind of trouble
/// that was allowed and never came about; MUSTER_SEEDS=FROM..TO explores those seeds instead.
void explore_seeds(const Wildness& wildness, std::uint64_t seeds);

}  // namespace muster::test
